/** Users that make a load, where they were measured for just this traffic over just this line. */

/** What of a checked scenario decides it: not the disciplines, and not how long it runs. */
function kind({ network, link, traffic }, place) {
  const lines = link.map(({ forward, reverse, ...line }) => line)
  const { users, load, flows, name, ...group } = traffic[place]
  return JSON.stringify([network, lines, group])
}

export class Calibrations {
  #kinds

  /** `entries` as `calibrations.py` writes them; `check` gives a scenario with every default filled in. */
  constructor(entries, check) {
    this.entries = entries
    this.check = check
  }

  /** The entry that was measured for group `place` of this scenario, whatever its users; undefined without one. */
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
