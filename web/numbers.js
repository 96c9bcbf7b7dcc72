/** The table of numbers beside the plots. */

import { element } from './form.js'
import { format } from './plots.js'

/** What a side's `figures` are called, their unit, where they stand in a summary, and by what factor. */
export const FIGURES = [
  ['queue', 'mean queue', 'packets', 'queue_time_mean_packets', 1],
  ['delay', 'mean queue delay', 'ms', 'queue_delay_mean_s', 1e3],
  ['rate', 'throughput', 'Mbit/s', 'throughput_bytes_per_s', 8e-6],
  ['loss', 'packets lost', '%', 'drop_rate', 100],
  ['marks', 'marks', '', 'marks', 1],
  ['within', 'answered within 1 s', '%', 'share_le_1s', 100],
  ['median', 'median response time', 'ms', 'response_p50_s', 1e3],
  ['p90', '90 % responses below', 'ms', 'response_p90_s', 1e3],
]
/** Rows about groups at most. */
const MOST_MEDIA = 24

const mean = (values) => (values?.length ? values.reduce((sum, v) => sum + v, 0) / values.length : null)
const pair = (name, a, b) => [name, [a, b, a != null && b != null ? b - a : null]]

/** What each group got so far; what calls and films were like, once the runs are over. */
function media(sides) {
  const [a, b] = sides.map((side) => side.summary ?? {})
  const goodputs = Object.keys(sides[0].seconds.columns).filter((name) => name.endsWith('.goodput_bytes'))
  const found = goodputs.map((name) => pair(`${name.slice(0, -14)}: goodput, Mbit/s`, ...sides.map((side) => mean(side.seconds.columns[name]?.map((bytes) => (bytes * 8) / 1e6)))))
  for (const [group, of] of Object.entries(a.datagrams ?? {})) {
    for (const [name, key, factor] of [['99 % of delays below, ms', 'delay_p99_s', 1e3], ['lost, %', 'loss_share', 100]]) {
      found.push(pair(`${group}: ${name}`, of[key] * factor, (b.datagrams?.[group]?.[key] ?? NaN) * factor))
    }
  }
  for (const name of Object.keys(a).filter((key) => /^(voip|video|rtc)_/.test(key) && typeof a[key] === 'number')) found.push(pair(name.replaceAll('_', ' '), a[name], b[name]))
  return found.slice(0, MOST_MEDIA)
}

/** Name, A, B, difference and its interval over seeds, of every figure. */
export function rows(sides, replicated) {
  const [a, b] = sides.map((side) => side.figures())
  const figures = FIGURES.map(([key, name, unit]) => {
    const [, values] = pair(name, a[key], b[key])
    return [name + (unit ? `, ${unit}` : ''), ...values.map(format), replicated.get(key) ?? '']
  })
  return [...figures, ...media(sides).map(([name, values]) => [name, ...values.map(format), ''])]
}

/** Brings the table's body up to date, touching only what has changed. */
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
