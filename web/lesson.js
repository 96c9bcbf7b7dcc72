/** What stands above the fold beside the pictures: three numbers of both sides, the colours' legend, and which queues a picture draws apart. */

import { element } from './form.js'
import { FLOWS } from './picture.js'
import { format } from './plots.js'

/** Disciplines that keep a queue for each flow. */
const OF_FLOWS = ['fq_codel', 'fq_pie', 'cake', 'drr', 'sfq']
/** Congestion controls whose packets a DualPI2 puts into its low-latency queue. */
const SCALABLE = ['prague', 'dctcp']
/** Queues of flows that a picture draws apart; further flows share them. */
const MOST_LANES = 6

/** The three numbers: name, unit, how a side gives it. The third is the first that these users have. */
function lesson(sides) {
  const has = (read) => sides.some((side) => read(side) != null)
  const rating = (side) => side.summary?.voip_r_mean
  const within = (side) => side.figures().within
  const third = has(rating)
    ? ['calls are rated', 'R of 93', rating]
    : has(within)
      ? ['answered within 1 s', '%', within]
      : ['lost', 'packets', (side) => side.figures().drops]
  return [['packets wait', 'ms', (side) => side.figures().delay], ['throughput', 'Mbit/s', (side) => side.figures().rate], third]
}

/** Brings the three numbers up to date. */
export function cards(place, sides) {
  const wanted = lesson(sides)
  while (place.children.length < wanted.length) {
    const values = ['a', 'b'].map((name) => element('b', { className: name }))
    place.append(element('div', {}, element('span'), ...values, element('small')))
  }
  wanted.forEach(([name, unit, read], i) => {
    const [title, a, b, below] = place.children[i].children
    const texts = [name, ...sides.map((side) => format(read(side))), unit]
    ;[title, a, b, below].forEach((cell, c) => {
      if (cell.textContent !== texts[c]) cell.textContent = texts[c]
    })
  })
}

/** Who has which colour: a group each, or the flows of a single group. */
export function legend(place, traffic) {
  const swatch = (colour) => {
    const made = element('i')
    made.style.background = colour
    return made
  }
  const name = ({ name: own, app, users, flows }) => `${own ?? app}${users ?? flows ? ` (${users ?? flows})` : ''}`
  const entries = traffic.length > 1 ? traffic.map((group, g) => [swatch(FLOWS[g % FLOWS.length]), name(group)]) : [[swatch(FLOWS[0]), swatch(FLOWS[1]), swatch(FLOWS[2]), `${name(traffic[0] ?? {})}: a colour for each`]]
  const marks = [[swatch('#f0e442'), 'marked (ECN)'], [swatch('#d55e00'), 'dropped']]
  place.replaceChildren(...[...entries, ...marks].map((parts) => element('span', {}, ...parts)))
}

/** How a side's queue is drawn: undefined for one row, else which lane an event's packet is in, and the lanes' names. */
export function lanes(queue, traffic) {
  const aqm = queue?.aqm ?? queue
  if (OF_FLOWS.includes(aqm)) return { of: (group, user) => (group * 3 + user) % MOST_LANES, number: MOST_LANES, names: [] }
  if (aqm !== 'dualpi2') return undefined
  const low = traffic.map(({ tcp }) => SCALABLE.includes(tcp?.congestion?.name ?? tcp?.congestion))
  return { of: (group) => (low[group] ? 0 : 1), number: 2, names: ['L', 'C'] }
}
