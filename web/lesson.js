/** The texts next to the pictures: three numbers of both sides and the legend of colours; and the lanes into which a picture divides a queue. */

import { element } from './form.js'
import { FLOWS } from './picture.js'
import { format } from './plots.js'

/** Disciplines with a queue for each flow. */
const OF_FLOWS = ['fq_codel', 'fq_pie', 'cake', 'drr', 'sfq']
/** Scalable congestion controls, whose packets DualPI2 puts into its low-latency queue. */
const SCALABLE = ['prague', 'dctcp']
/** Most lanes that a picture divides a queue into; if there are more flows, they share lanes. */
const MOST_LANES = 6

const mean = (values) => (values?.length ? values.reduce((sum, v) => sum + v, 0) / values.length : null)
/** Names of disciplines as in the literature; all others are shown by their name in the catalogue. */
const NAMES = {
  droptail: 'FIFO (drop-tail)',
  red: 'RED',
  wred: 'WRED',
  ared: 'Adaptive RED',
  codel: 'CoDel',
  fq_codel: 'FQ-CoDel',
  pie: 'PIE',
  fq_pie: 'FQ-PIE',
  cake: 'CAKE',
  pi: 'PI',
  pi2: 'PI2',
  dualpi2: 'DualPI2',
  drr: 'DRR (fair queueing)',
  sfq: 'SFQ',
  cobalt: 'COBALT',
  blue: 'BLUE',
  rem: 'REM',
  avq: 'AVQ',
  choke: 'CHOKe',
}

/** The name of a queue's discipline for people. */
export function title(queue) {
  const aqm = queue?.aqm ?? queue ?? 'droptail'
  return NAMES[aqm] ?? aqm
}

/** How a side's queue differs from the other's, in words: the parameters that differ if both have one discipline, else the queue's limit. */
export function differs(queue, other) {
  const values = Object.entries(queue ?? {}).filter(([name, value]) => name !== 'aqm' && typeof value !== 'object')
  const same = queue?.aqm === other?.aqm
  const apart = values.filter(([name, value]) => (same ? other[name] !== value : name === 'limit'))
  const words = apart.slice(0, 3).map(([name, value]) => (typeof value === 'boolean' ? `${name.toUpperCase()} ${value ? 'on' : 'off'}` : name === 'limit' ? `room for ${value.toLocaleString('en')} packets` : `${name} ${value}`))
  return words.join(', ')
}

/** The three numbers to show, each as name, unit and a function that reads it from a side. The third depends on the traffic: the first measure of a list that it has. */
function lesson(sides, traffic) {
  const has = (read) => sides.some((side) => read(side) != null)
  const rating = (side) => side.summary?.voip_r_mean
  const within = (side) => side.figures().within
  const columns = Object.keys(sides[0].seconds.columns)
  const late = columns.find((name) => name.endsWith('.delay_mean_s'))
  const delay = (side) => mean(side.seconds.columns[late]?.filter((v) => v != null).map((v) => v * 1e3))
  const goodputs = traffic.map((group) => `${group.name}.goodput_bytes`).filter((name) => columns.includes(name))
  const got = (side) => mean(side.seconds.columns[goodputs[0]]?.map((bytes) => bytes * 8e-6))
  const third = has(rating)
    ? ['calls are rated', 'R (best 93)', rating]
    : has(delay)
      ? [`${late.slice(0, -13)}: delay`, 'ms', delay]
      : has(within)
        ? ['answered within 1 s', '%', within]
        : goodputs.length > 1 && has(got)
          ? [`${goodputs[0].slice(0, -14)} gets`, 'Mbit/s', got]
          : ['lost', 'packets', (side) => side.figures().drops]
  return [['packets wait', 'ms', (side) => side.figures().delay], ['throughput', 'Mbit/s', (side) => side.figures().rate], third]
}

/** Updates the three numbers in the page. */
export function cards(place, sides, traffic) {
  const wanted = lesson(sides, traffic)
  while (place.children.length < wanted.length) {
    const values = ['a', 'b'].map((name) => element('b', { className: name }))
    place.append(element('div', {}, element('span'), ...values, element('small')))
  }
  wanted.forEach(([name, unit, read], i) => {
    const [title, a, b, below] = place.children[i].children
    const texts = [name, ...sides.map((side) => (unit === 'packets' ? String(read(side)) : format(read(side)))), unit]
    ;[title, a, b, below].forEach((cell, c) => {
      if (cell.textContent !== texts[c]) cell.textContent = texts[c]
    })
  })
}

/** Shows the legend: the colour of each group, or of the first flows of a single group. */
export function legend(place, traffic) {
  const swatch = (colour) => {
    const made = element('i')
    made.style.background = colour
    return made
  }
  const name = ({ name: own, app, users, flows }) => `${own ?? app}${(users ?? flows) ? ` (${users ?? flows})` : ''}`
  const entries =
    traffic.length > 1 ? traffic.map((group, g) => [swatch(FLOWS[g % FLOWS.length]), name(group)]) : [[...FLOWS.slice(0, Math.min(3, traffic[0]?.users ?? traffic[0]?.flows ?? 3)).map(swatch), `${name(traffic[0] ?? {})}: a colour for each`]]
  const marks = [
    [swatch('#f0e442'), 'marked (ECN)'],
    [element('b', { className: 'lost' }, '×'), 'dropped'],
  ]
  place.replaceChildren(...[...entries, ...marks].map((parts) => element('span', {}, ...parts)))
}

/** A lane for each flow if there are few, with the names of their groups; else a few lanes that flows share. */
function ofFlows(traffic) {
  const numbers = traffic.map(({ users, flows }) => users ?? flows ?? 1)
  const total = numbers.reduce((sum, n) => sum + n, 0)
  if (total > MOST_LANES) return { of: (group, user) => (group * 3 + user) % MOST_LANES, number: MOST_LANES, names: [] }
  const first = numbers.map((_, g) => numbers.slice(0, g).reduce((sum, n) => sum + n, 0))
  const names = traffic.flatMap(({ name, app }, g) => Array(numbers[g]).fill(name ?? app))
  return { of: (group, user) => first[group] + (user % numbers[group]), number: total, names }
}

/** The lanes of a side's queue: undefined for a single queue, else a function from group and user to a lane, and the lanes' number and names. */
export function lanes(queue, traffic) {
  const aqm = queue?.aqm ?? queue
  if (OF_FLOWS.includes(aqm)) return ofFlows(traffic)
  if (aqm !== 'dualpi2') return undefined
  const low = traffic.map(({ tcp }) => SCALABLE.includes(tcp?.congestion?.name ?? tcp?.congestion))
  return { of: (group) => (low[group] ? 0 : 1), number: 2, names: ['L', 'C'] }
}
