/** The table of numbers next to the plots. */

import { element } from './form.js'
import { format } from './plots.js'
import { interval } from './seeds.js'

/** The rows of the table: key in a side's `figures`, name, unit, key in a run's summary, and factor from the summary's unit. */
export const FIGURES = [
  ['queue', 'mean queue', 'packets', 'queue_time_mean_packets', 1],
  ['delay', 'mean queue delay', 'ms', 'queue_delay_mean_s', 1e3],
  ['p99', '99 % of queue delays below', 'ms', 'queue_delay_p99_s', 1e3],
  ['rate', 'throughput', 'Mbit/s', 'throughput_bytes_per_s', 8e-6],
  ['loss', 'packets lost', '%', 'drop_rate', 100],
  ['marks', 'marks', '', 'marks', 1],
  ['within', 'answered within 1 s', '%', 'share_le_1s', 100],
  ['median', 'median response time', 'ms', 'response_p50_s', 1e3],
  ['p90', '90 % responses below', 'ms', 'response_p90_s', 1e3],
]
/** Keys of rows about responses, and keys of rows that are known only at the end of a run. */
const RESPONSES = ['within', 'median', 'p90']
const LATE = ['p99', 'loss', 'median', 'p90']
/** Most rows about groups. */
const MOST_MEDIA = 24

const isNumber = (v) => typeof v === 'number' && Number.isFinite(v)
const mean = (values) => (values?.length ? values.reduce((sum, v) => sum + v, 0) / values.length : null)
/** A number times a factor; null if it is not a number. */
const times = (v, factor) => (isNumber(v) ? v * factor : null)
/** B − A; null if one of them is not a number. */
export const difference = (a, b) => (isNumber(a) && isNumber(b) ? b - a : null)

/** A difference `v` as text, with as many decimals as the numbers `of` that it is the difference of. */
function like(v, ...of) {
  if (!isNumber(v)) return format(v)
  const digits = Math.max(...of.map((one) => (format(one).split('.')[1] ?? '').length))
  return v.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace(/^-([0.]*)$/, '$1')
}

/** Rows about groups that a run's summary contains, each with a name and a function that reads it from a summary; `measures` are those of the catalogue. */
function ofGroups(summary, measures) {
  const found = []
  for (const group of Object.keys(summary.datagrams ?? {})) {
    for (const [name, key, factor] of [
      ['99 % of delays below, ms', 'delay_p99_s', 1e3],
      ['lost, %', 'loss_share', 100],
    ]) {
      found.push({ name: `${group}: ${name}`, of: (from) => times(from.datagrams?.[group]?.[key], factor) })
    }
  }
  const known = new Map(measures.map((about) => [about.name, about]))
  const calls = Object.keys(summary).filter((key) => /^(voip|video|rtc)_/.test(key) && typeof summary[key] === 'number')
  return [
    ...found,
    ...calls.map((key) => {
      const { title, shown, scale } = known.get(key) ?? { title: key.replaceAll('_', ' '), shown: '', scale: 1 }
      return { name: shown && !title.split(' ').includes(shown) ? `${title}, ${shown}` : title, of: (from) => times(from[key], scale) }
    }),
  ]
}

/** Pairs of summaries with common seeds, and confidence intervals of their paired differences. */
export class Intervals {
  pairs = []

  /** Adds the summaries of both sides for one more seed. */
  add(pair) {
    this.pairs.push(pair)
  }

  /** The mean paired difference of the number that `of` reads from a summary, with its interval, as text. If the number is undefined for some seed, the text says so. */
  words(of) {
    if (!this.pairs.length) return ''
    const differences = this.pairs.map(([a, b]) => difference(of(a), of(b)))
    const undefinedIn = differences.filter((v) => v === null).length
    if (undefinedIn) return `undefined in ${undefinedIn} of ${differences.length} seeds`
    const found = interval(differences)
    return found ? `${format(found.mean)} ± ${format(found.half)}` : ''
  }
}

/** The rows of the table, each as name, A, B, difference, and the difference's interval over seeds. */
export function rows(sides, intervals, measures = []) {
  const line = (name, a, b, words) => [name, format(a), format(b), like(difference(a, b), a, b), words]
  const [a, b] = sides.map((side) => side.figures())
  const over = sides.every((side) => side.summary)
  const asked = sides.some((side) => side.summary?.responses || side.look?.responses?.total)
  const shown = FIGURES.filter(([key]) => asked || !RESPONSES.includes(key))
  const figures = shown.map(([key, name, unit, figure, factor]) => {
    const cells = line(
      name + (unit ? `, ${unit}` : ''),
      a[key],
      b[key],
      intervals.words((summary) => times(summary[figure], factor)),
    )
    return !over && LATE.includes(key) && a[key] == null && b[key] == null ? [cells[0], 'at the end', '', '', ''] : cells
  })
  return [...figures, ...media(sides, intervals, measures, line)]
}

/** Rows about groups: the goodput of each so far, and measures of calls and videos once the runs are over. */
function media(sides, intervals, measures, line) {
  const summaries = sides.map((side) => side.summary ?? {})
  const goodputs = Object.keys(sides[0].seconds.columns).filter((name) => name.endsWith('.goodput_bytes'))
  const got = (side, name) => mean(side.seconds.columns[name]?.map((bytes) => (bytes * 8) / 1e6))
  const found = goodputs.map((name) => line(`${name.slice(0, -14)}: goodput, Mbit/s`, ...sides.map((side) => got(side, name)), ''))
  const rows = ofGroups(summaries[0], measures).map(({ name, of }) => line(name, ...summaries.map(of), intervals.words(of)))
  return [...found, ...rows].slice(0, MOST_MEDIA)
}

/** Updates the table's body; only cells that differ are changed. */
export function fill(body, wanted) {
  while (body.rows.length > wanted.length) body.deleteRow(-1)
  wanted.forEach((cells, r) => {
    const row = body.rows[r] ?? body.insertRow()
    cells.forEach((cell, c) => {
      const place = row.cells[c] ?? row.appendChild(c ? element('td') : element('th', { scope: 'row' }))
      if (place.textContent !== cell) place.textContent = cell
    })
  })
}
