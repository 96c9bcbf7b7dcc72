/** Shows finished result folders, which `aqmlab lab` serves read-only. */

import { element } from './form.js'
import { format } from './plots.js'

const cell = (tag, value) => element(tag, {}, typeof value === 'number' ? format(value) : String(value ?? '–'))

function table(caption, heads, rows) {
  const head = element('thead', {}, element('tr', {}, ...heads.map((name) => element('th', { scope: 'col' }, name))))
  return element('table', {}, element('caption', {}, caption), head, element('tbody', {}, ...rows))
}

/** Shade of a cell of the heat map: 0 for the smallest value, 1 for the largest. */
const shade = (value, least, most) => (most > least ? (value - least) / (most - least) : 0)

/** A sweep as a table of means with intervals, shaded as a heat map. */
function sweep({ figure, columns, rows }) {
  const values = rows.flatMap(({ cells }) => cells.map((of) => of?.mean)).filter(Number.isFinite)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const made = rows.map(({ label, cells }) => {
    const shown = cells.map((of) => {
      const td = element('td', {}, of ? `${format(of.mean)}${of.half == null ? '' : ` ± ${format(of.half)}`}` : '–')
      if (of) td.dataset.shade = Math.round(shade(of.mean, least, most) * 5)
      return td
    })
    return element('tr', {}, element('th', { scope: 'row' }, label), ...shown)
  })
  return table(figure, ['', ...columns], made)
}

/** A study's claims and their verdicts. */
function claims(of) {
  const rows = of.map(({ id, claim, verdict }) => element('tr', {}, cell('th', id), cell('td', claim), cell('td', verdict)))
  return table('Claims', ['', 'claim', 'verdict'], rows)
}

async function open(place, name) {
  const answer = await fetch(`results/${encodeURIComponent(name)}.json`)
  const found = await answer.json()
  const parts = [element('h3', {}, name)]
  if (found.error) parts.push(element('p', { className: 'why' }, found.error))
  if (found.claims?.length) parts.push(claims(found.claims))
  parts.push(...(found.sweeps ?? []).map(sweep))
  parts.push(...(found.figures ?? []).map((figure) => element('img', { src: `results/${encodeURIComponent(name)}/${figure}`, alt: figure, loading: 'lazy' })))
  place.replaceChildren(...parts)
}

export function showResults(section, names) {
  section.hidden = false
  const shown = element('div', { className: 'scroll' })
  const buttons = names.map((name) => element('button', { type: 'button', onclick: () => open(shown, name) }, name))
  const none = names.length ? [] : [element('p', {}, 'There is no result folder yet: aqmlab run makes one.')]
  section.append(element('div', { className: 'buttons' }, ...buttons), ...none, shown)
}
