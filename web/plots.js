/** Plots of both sides with a common cursor, and the distribution of response times. */

/* global uPlot */

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Functions that read a line's times and values from a side; plots over time have a title, a unit, and such a function for each named line. */
const seconds =
  (name, factor = 1) =>
  ({ seconds: all }) => ({ t: all.t, values: factor === 1 ? (all.columns[name] ?? []) : (all.columns[name] ?? []).map((v) => v && v * factor) })
const bins =
  (name, queue = 0) =>
  ({ queues }) => ({ t: queues[queue]?.bins.t ?? [], values: queues[queue]?.bins[name] ?? [] })
const OVER_TIME = [
  {
    title: 'Queue',
    unit: 'packets',
    lines: [
      ['queue', bins('most')],
      ['average', bins('average')],
    ],
  },
  { title: 'Probability of a drop or mark', unit: '', lines: [['probability', bins('probability')]] },
  { title: 'Throughput', unit: 'Mbit/s', lines: [['throughput', seconds('rate')]] },
  { title: 'How long packets wait (queue delay)', unit: 'ms', lines: [['queue delay', (side) => side.delays()]] },
  {
    title: 'Losses and marks',
    unit: 'per second',
    lines: [
      ['lost', seconds('loss')],
      ['marked', seconds('marks')],
    ],
  },
]

/** Title of the plot that stands next to the three numbers. */
const LESSON = 'How long packets wait (queue delay)'
/** Lengths of the time axis in seconds; the axis grows with the run. */
const ENDS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600]

/** Measures of viewers and listeners, by the ending of the series' name: title, unit, factor. */
const MEDIA = {
  delay_mean_s: ['one-way delay of datagrams', 'ms', 1e3],
  frame_delay_mean_s: ['frame delay', 'ms', 1e3],
  still_share: ['viewers whose picture stands still', '%', 100],
}
/** Largest number of additional plots, of groups and of further queues. */
const MOST_MORE = 8

/** Plots that only some scenarios have: further queues, calls, films. */
function more(sides) {
  const queues = sides[0].queues.slice(1).map(({ name }, i) => ({
    title: `Queue ${name}`,
    unit: 'packets',
    lines: [
      ['queue', bins('most', i + 1)],
      ['average', bins('average', i + 1)],
    ],
  }))
  const names = new Set(sides.flatMap((side) => Object.keys(side.seconds.columns)))
  const media = [...names].sort().flatMap((name) => {
    const [group, kind] = [name.slice(0, name.lastIndexOf('.')), name.slice(name.lastIndexOf('.') + 1)]
    if (!MEDIA[kind]) return []
    const [title, unit, factor] = MEDIA[kind]
    return [{ title: `${group}: ${title}`, unit, lines: [[group, seconds(name, factor)]] }]
  })
  return [...queues, ...media].slice(0, MOST_MORE)
}

/** A number as text: large ones without a fraction, small ones with two significant digits. */
function format(v) {
  if (v == null || Number.isNaN(v)) return '–'
  if (Math.abs(v) >= 100) return Math.round(v).toLocaleString('en')
  return Math.abs(v) >= 1 ? v.toFixed(1) : v.toPrecision(2)
}

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

/** Joins both sides' lines over their common times. */
function joined(sides, lines) {
  const found = sides.flatMap((side) => lines.map(([, of]) => of(side)))
  const longest = found.reduce((most, line) => (line.t.length > most.length ? line.t : most), [])
  // Times of bins are common to both sides; times of single packets differ.
  const begins = (own) => [0, 1, own.length - 1].every((i) => own[i] === longest[i])
  const common = found.every((line) => begins(line.t))
  const t = common ? longest : [...new Set(found.flatMap((line) => line.t))].sort((a, b) => a - b)
  const column = ({ t: own, values }) => {
    if (common) return values.concat(Array(t.length - values.length).fill(null))
    const known = new Map(own.map((at, i) => [at, values[i]]))
    // In uPlot undefined joins the points around it; null would make a gap.
    return t.map((at) => known.get(at))
  }
  return [t, ...found.map(column)]
}

/** Percent of responses that took at most each time, from the engine's bins. */
function distribution(look) {
  const { counts, total, failed, bins_a_decade } = look?.responses ?? { counts: [] }
  let sum = 0
  return counts.map((count, i) => {
    sum += count - (i === counts.length - 1 ? failed : 0)
    return { ms: 10 ** ((i + 1) / bins_a_decade), share: total ? (sum / total) * 100 : null }
  })
}

export class Plots {
  /** `lead` is the element that holds the plot of the lesson, which shows the queueing delay. */
  constructor(place, lead = place) {
    this.place = place
    this.lead = lead
    this.plots = OVER_TIME.map((spec) => this.#overTime(spec))
    const logarithmic = { x: { time: false, distr: 3 }, y: { range: [0, 100] }, difference: {} }
    const difference = { label: 'B − A', scale: 'difference', stroke: () => style('--ink'), width: 1, dash: [2, 2], points: { show: false }, value: (_, v) => format(v) }
    const axes = [axis(''), axis('% of responses'), { ...axis('B − A, points'), side: 1, scale: 'difference', grid: { show: false } }]
    this.responses = this.#make('Response time, ms', { cursor: {}, scales: logarithmic, axes, series: [{ label: 'ms' }, ...series(['at most']), difference] })
    this.more = []
    for (const each of new Set([place, lead])) new ResizeObserver(() => this.#resize()).observe(each)
  }

  #overTime(spec) {
    const cursor = { sync: { key: 'time' }, drag: { x: true, y: false } }
    const options = { cursor, scales: { x: { time: false } }, axes: [{ ...axis(''), values: (_, ticks) => ticks.map((v) => `${v} s`) }, axis(spec.unit)], series: [{ label: 's' }, ...series(spec.lines.map(([name]) => name))] }
    return { spec, plot: this.#make(spec.title, options, spec.title === LESSON ? this.lead : this.place) }
  }

  #make(title, options, place = this.place) {
    const figure = document.createElement('figure')
    const caption = document.createElement('figcaption')
    caption.textContent = title
    if (place !== this.place) caption.append(...['a', 'b'].map((side) => Object.assign(document.createElement('b'), { className: side, textContent: ` ${side.toUpperCase()}` })))
    figure.append(caption)
    place.append(figure)
    const width = figure.clientWidth || 360
    const empty = options.series.map(() => [])
    const plot = new uPlot({ ...options, width, height: this.#height(figure), legend: { live: true } }, empty, figure)
    plot.root.querySelector('canvas').setAttribute('aria-hidden', 'true')
    return plot
  }

  /** The height of a plot; that of the lesson's plot matches the numbers next to it. */
  #height(figure) {
    if (figure.parentElement !== this.lead || this.lead === this.place) return 190
    return innerWidth > 600 ? 220 : 165
  }

  #resize() {
    for (const plot of this.all()) this.#size(plot)
  }

  /** Makes a plot as wide as its figure; a plot in a hidden figure keeps its previous width. */
  #size(plot) {
    const width = plot.root.parentElement.clientWidth
    if (width && width !== plot.width) plot.setSize({ width, height: this.#height(plot.root.parentElement) })
  }

  /** Shows or hides a plot. A plot that appears is resized at once, so that downloads contain it in its right size. */
  #show(plot, shown) {
    const figure = plot.root.parentElement
    if (figure.hidden !== shown) return
    figure.hidden = !shown
    this.#size(plot)
  }

  all() {
    return [...[...this.plots, ...this.more].map(({ plot }) => plot), this.responses]
  }

  /** Makes the plots that only these scenarios have, in place of those of the last scenarios. */
  #fit(sides) {
    const wanted = more(sides)
    if (String(wanted.map(({ title }) => title)) === String(this.more.map(({ spec }) => spec.title))) return
    for (const { plot } of this.more) {
      const figure = plot.root.parentElement
      plot.destroy()
      figure.remove()
    }
    this.more = wanted.map((spec) => this.#overTime(spec))
  }

  /** Draws what has been simulated so far; the time axis grows as needed. */
  draw(sides, duration) {
    this.#fit(sides)
    const now = Math.max(...sides.map((side) => side.now))
    const end = Math.min(duration, ENDS_S.find((at) => at >= 1.05 * now) ?? duration)
    for (const { spec, plot } of [...this.plots, ...this.more]) {
      plot.setData(joined(sides, spec.lines), false)
      plot.batch(() => {
        plot.setScale('x', { min: 0, max: end })
        const values = plot.data.slice(1).flatMap((column) => column.filter((v) => v != null))
        const most = values.reduce((m, v) => Math.max(m, v), 0)
        plot.setScale('y', { min: 0, max: most * 1.08 || 1 })
        this.#show(plot, most > 0 || spec.title === LESSON)
      })
    }
    const [a, b] = sides.map((side) => distribution(side.look))
    const shown = a.length && b.length && (a.some((p) => p.share) || b.some((p) => p.share))
    this.#show(this.responses, Boolean(shown))
    if (!shown) return
    const share = (points) => points.map((p) => p.share)
    const difference = b.map((p, i) => (p.share == null || a[i].share == null ? null : p.share - a[i].share))
    this.responses.setData([a.map((p) => p.ms), share(a), share(b), difference])
  }

  redraw() {
    for (const plot of this.all()) plot.redraw(false)
  }
}

export { format }
