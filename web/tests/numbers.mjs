/** What the table of numbers says: differences, intervals over seeds, and one scale for both pictures. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quantity } from '../form.js'
import { difference, Intervals, rows } from '../numbers.js'
import { commonScale } from '../picture.js'

const side = (summary, figures = {}) => ({ summary, figures: () => figures, seconds: { columns: {} } })
const row = (table, name) => table.find(([first]) => first.startsWith(name))

test('what is undefined has no difference, and no interval', () => {
  assert.equal(difference(null, null), null)
  assert.equal(difference(undefined, 3), null)
  assert.equal(difference(1, NaN), null)
  const intervals = new Intervals()
  for (const seed of [1, 2, 3])
    intervals.add([
      { response_p50_s: null, marks: seed },
      { response_p50_s: null, marks: 2 * seed },
    ])
  const table = rows([side({ responses: 9 }, { median: null }), side({ responses: 9 }, { median: null })], intervals)
  assert.deepEqual(row(table, 'median response time').slice(1), ['–', '–', '–', 'undefined in 3 of 3 seeds'])
  assert.equal(row(table, 'marks')[4], '2.0 ± 2.5')
})

test('what differs by rounding alone has an interval of no width', () => {
  const intervals = new Intervals()
  for (const b of [0.3, 0.3, 0.1 + 0.2]) intervals.add([{ drop_rate: 0.2 }, { drop_rate: b }])
  assert.notEqual(0.3, 0.1 + 0.2)
  assert.equal(row(rows([side({}), side({})], intervals), 'packets lost')[4], '10.0 ± 0.0')
})

test('a number that one seed lacks has no mean of the others', () => {
  const intervals = new Intervals()
  for (const p50 of [1, 2, null]) intervals.add([{ response_p50_s: 1 }, { response_p50_s: p50 }])
  assert.equal(row(rows([side({ responses: 9 }), side({ responses: 9 })], intervals), 'median')[4], 'undefined in 1 of 3 seeds')
})

test('rows about responses are there with responses alone, and a late number says when it comes', () => {
  assert.equal(row(rows([side({}), side({})], new Intervals()), 'median'), undefined)
  const running = () => ({ look: { responses: { total: 3 } }, figures: () => ({ within: 50 }), seconds: { columns: {} } })
  const table = rows([running(), running()], new Intervals())
  assert.deepEqual(row(table, 'median response time').slice(1), ['at the end', '', '', ''])
  assert.equal(row(table, 'answered within 1 s')[1], '50.0')
})

test('calls and streams have intervals of their own', () => {
  const summary = (r, delay) => ({ voip_r_mean: r, datagrams: { call: { delay_p99_s: delay, loss_share: 0 } } })
  const intervals = new Intervals()
  for (const seed of [0, 1, 2]) intervals.add([summary(40 + seed, 0.3), summary(80 + 2 * seed, 0.1)])
  const measures = [{ name: 'voip_r_mean', title: 'R of calls, mean', shown: '', scale: 1 }]
  const table = rows([side(summary(40, 0.3)), side(summary(80, 0.1))], intervals, measures)
  assert.deepEqual(row(table, 'R of calls, mean').slice(1), ['40.0', '80.0', '40.0', '41.0 ± 2.5'])
  assert.deepEqual(row(table, 'call: 99 % of delays below, ms').slice(1), ['300', '100', '-200', '-200 ± 0.0'])
})

test('both pictures have one scale, which stays while it is no more than halved', () => {
  assert.deepEqual(commonScale([[200], [12]]), [200])
  assert.deepEqual(commonScale([[120], [12]], [200]), [200])
  assert.deepEqual(commonScale([[90], [12]], [200]), [90])
  assert.deepEqual(commonScale([[30, 400], [50]], [40, 300]), [50, 400])
  assert.deepEqual(commonScale([[], []]), [10])
})

test('the ends of a range have units that a scenario reads', () => {
  assert.equal(quantity(1e15, 'rate'), '1e+6 Gbit/s')
  assert.equal(quantity(172_800, 'time'), '48 h')
})
