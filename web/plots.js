/** Plots with a common cursor, of both sides; and the distribution of response times. */

/* global uPlot */

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Plots over time: title, unit, and which column of which table of a side. */
const OVER_TIME = [
  { id: 'queue', title: 'Queue', unit: 'packets', of: 'bins', columns: [['most', 'queue'], ['average', 'average']] },
  { id: 'probability', title: 'Probability of a drop or mark', unit: '', of: 'bins', columns: [['probability', 'probability']] },
  { id: 'rate', title: 'Throughput', unit: 'Mbit/s', of: 'seconds', columns: [['rate', 'throughput']] },
  { id: 'delay', title: 'Queue delay', unit: 'ms', of: 'seconds', columns: [['delay', 'queue delay']] },
  { id: 'loss', title: 'Losses and marks', unit: 'per second', of: 'seconds', columns: [['loss', 'lost'], ['marks', 'marked']] },
]

const format = (v) => (v == null || Number.isNaN(v) ? '–' : Math.abs(v) >= 100 ? v.toFixed(0) : Math.abs(v) >= 1 ? v.toFixed(1) : v.toPrecision(2))

function series(names) {
  const dashes = [undefined, [5, 3]]
  return [0, 1].flatMap((side) =>
    names.map((name, i) => ({
      label: `${'AB'[side]} ${name}`,
      stroke: () => style(side ? '--b' : '--a'),
      width: i ? 2 : 1.2,
      dash: dashes[i],
      points: { show: false },
      value: (_, v) => format(v),
    })),
  )
}

const axis = (label) => ({ label, stroke: () => style('--ink'), grid: { stroke: () => style('--faint'), width: 0.5 }, ticks: { show: false }, size: label ? 46 : 30, labelSize: 14, font: '11px system-ui', labelFont: '11px system-ui' })

/** Joins both sides' columns over their common times. */
function joined(sides, of, columns) {
  const tables = sides.map((side) => side[of])
  const [longer, shorter] = tables[0].t.length >= tables[1].t.length ? tables : [tables[1], tables[0]]
  const same = longer.t[0] === shorter.t[0] || !shorter.t.length
  const rows = longer.t
  const column = (table, name) => (same ? table[name].concat(Array(rows.length - table[name].length).fill(null)) : rows.map((t) => table[name][table.t.indexOf(t)] ?? null))
  return [rows, ...tables.flatMap((table) => columns.map(([name]) => column(table, name)))]
}

/** Share of responses that took at most so long, from the engine's bins, in percent. */
function distribution(look) {
  const { counts, total, failed, bins_a_decade } = look?.responses ?? { counts: [] }
  let sum = 0
  return counts.map((count, i) => {
    sum += count - (i === counts.length - 1 ? failed : 0)
    return { ms: 10 ** ((i + 1) / bins_a_decade), share: total ? (sum / total) * 100 : null }
  })
}

export class Plots {
  constructor(place) {
    this.place = place
    const cursor = { sync: { key: 'time' }, drag: { x: true, y: false } }
    this.plots = OVER_TIME.map((spec) => {
      const options = { cursor, scales: { x: { time: false } }, axes: [axis(''), axis(spec.unit)], series: [{ label: 's' }, ...series(spec.columns.map(([, name]) => name))] }
      return { spec, plot: this.#make(spec.title, options) }
    })
    const logarithmic = { x: { time: false, distr: 3 }, y: { range: [0, 100] }, difference: {} }
    const difference = { label: 'B − A', scale: 'difference', stroke: () => style('--ink'), width: 1, dash: [2, 2], points: { show: false }, value: (_, v) => format(v) }
    const axes = [axis(''), axis('% of responses'), { ...axis('B − A, points'), side: 1, scale: 'difference', grid: { show: false } }]
    this.responses = this.#make('Response time, ms', { cursor: {}, scales: logarithmic, axes, series: [{ label: 'ms' }, ...series(['at most']), difference] })
    new ResizeObserver(() => this.#resize()).observe(place)
  }

  #make(title, options) {
    const figure = document.createElement('figure')
    const caption = document.createElement('figcaption')
    caption.textContent = title
    figure.append(caption)
    this.place.append(figure)
    const width = figure.clientWidth || 360
    const empty = options.series.map(() => [])
    const plot = new uPlot({ ...options, width, height: 190, legend: { live: true } }, empty, figure)
    plot.root.querySelector('canvas').setAttribute('aria-hidden', 'true')
    return plot
  }

  #resize() {
    for (const plot of this.all()) {
      const width = plot.root.parentElement.clientWidth
      if (width !== plot.width) plot.setSize({ width, height: 190 })
    }
  }

  all() { return [...this.plots.map(({ plot }) => plot), this.responses] }

  draw(sides, duration) {
    for (const { spec, plot } of this.plots) {
      plot.setData(joined(sides, spec.of, spec.columns), false)
      plot.batch(() => {
        plot.setScale('x', { min: 0, max: duration })
        const values = plot.data.slice(1).flatMap((column) => column.filter((v) => v != null))
        const most = values.reduce((m, v) => Math.max(m, v), 0)
        plot.setScale('y', { min: 0, max: most * 1.08 || 1 })
      })
    }
    const [a, b] = sides.map((side) => distribution(side.look))
    const shown = a.length && b.length && (a.some((p) => p.share) || b.some((p) => p.share))
    this.responses.root.parentElement.hidden = !shown
    if (!shown) return
    const share = (points) => points.map((p) => p.share)
    const difference = b.map((p, i) => (p.share == null || a[i].share == null ? null : p.share - a[i].share))
    this.responses.setData([a.map((p) => p.ms), share(a), share(b), difference])
  }

  redraw() { for (const plot of this.all()) plot.redraw(false) }
}

export { OVER_TIME, format, distribution }
