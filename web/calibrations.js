/** Calibrated numbers of users for an offered load, measured for a certain traffic over a certain line. */

/** The parts of a checked scenario on which a calibration depends, as a text: network, lines without their disciplines, and one traffic group. */
function kind({ network, link, traffic }, place) {
  const lines = link.map(({ forward, reverse, ...line }) => line)
  const { users, load, flows, name, ...group } = traffic[place]
  return JSON.stringify([network, lines, group])
}

export class Calibrations {
  #kinds

  /** `entries` as `calibrations.py` writes them; `check` returns a scenario with every default filled in. */
  constructor(entries, check) {
    this.entries = entries
    this.check = check
  }

  /** The entry that was measured for the group of index `place` of this scenario, with any number of users; undefined if there is none. */
  async of(scenario, place) {
    this.#kinds ??= Promise.all(this.entries.map(({ scenario: of }) => this.#kind(of, 0)))
    const wanted = await this.#kind(scenario, place)
    const kinds = await this.#kinds
    return this.entries[kinds.indexOf(wanted)]
  }

  async #kind(scenario, place) {
    const traffic = scenario.traffic.map((group, i) => (i === place ? { ...group, load: undefined, users: 1 } : group))
    return kind(JSON.parse(await this.check(JSON.stringify({ ...scenario, traffic }))), place)
  }
}
