/** Files for download: scenarios, data, plots, captures and films. */

import { element } from './form.js'
import { toml } from './scenario.js'

/** Largest capture that a tab makes, in bytes. */
const MOST_PCAP = 64 << 20

export function save(name, parts, type) {
  const url = URL.createObjectURL(new Blob(parts, { type }))
  const link = element('a', { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** The time series of both sides as CSV, with a row for each second, or for several in a long run. */
export function csv(sides) {
  const names = ['rate', 'delay', 'early', 'forced', 'overflow', 'superseded', 'marks']
  const units = { rate: 'throughput_mbit_per_s', delay: 'queue_delay_ms', marks: 'marks' }
  const heads = sides.flatMap((_, s) => names.map((name) => `${'ab'[s]}.${units[name] ?? `drops_${name}`}`))
  const longer = sides.reduce((a, b) => (b.seconds.t.length > a.seconds.t.length ? b : a)).seconds.t
  const lines = longer.map((t, i) => [t, ...sides.flatMap(({ seconds }) => names.map((name) => seconds.columns[name]?.[i] ?? ''))].join(','))
  return `${['second', ...heads].join(',')}\n${lines.join('\n')}\n`
}

/** Saves all visible plots as one PNG picture, one below the other. */
export function png(plots, name) {
  const canvases = plots.filter((plot) => !plot.root.parentElement.hidden).map((plot) => plot.root.querySelector('canvas'))
  const out = element('canvas', { width: Math.max(...canvases.map((c) => c.width)), height: canvases.reduce((h, c) => h + c.height, 0) })
  const pen = out.getContext('2d')
  pen.fillStyle = getComputedStyle(document.body).backgroundColor
  pen.fillRect(0, 0, out.width, out.height)
  let y = 0
  for (const canvas of canvases) {
    pen.drawImage(canvas, 0, y)
    y += canvas.height
  }
  out.toBlob((blob) => save(name, [blob], 'image/png'))
}

/** Duration of a film in seconds. */
const FILM_S = 8
/** Height of the titles above the pictures, in pixels. */
const FILM_TITLE = 32

/** Records a film of both moving pictures next to each other, from now on, with a title above each. */
export function film(canvases, titles, name, say) {
  const kind = ['video/webm;codecs=vp9', 'video/webm'].find((type) => window.MediaRecorder?.isTypeSupported(type))
  if (!kind) return say('this browser records no film')
  const out = element('canvas', { width: canvases.reduce((w, c) => w + c.width, 0), height: Math.max(...canvases.map((c) => c.height)) + FILM_TITLE })
  const pen = out.getContext('2d')
  const style = getComputedStyle(document.documentElement)
  const recorder = new MediaRecorder(out.captureStream(30), { mimeType: kind, videoBitsPerSecond: 2_500_000 })
  const parts = []
  const draw = () => {
    if (recorder.state === 'inactive') return
    pen.fillStyle = getComputedStyle(canvases[0]).backgroundColor
    pen.fillRect(0, 0, out.width, out.height)
    pen.font = `bold ${FILM_TITLE * 0.6}px system-ui, sans-serif`
    titles().forEach((title, s) => {
      pen.fillStyle = style.getPropertyValue(s ? '--b' : '--a')
      pen.fillText(title, s * canvases[0].width + 8, FILM_TITLE * 0.75)
    })
    canvases.reduce((x, canvas) => (pen.drawImage(canvas, x, FILM_TITLE), x + canvas.width), 0)
    requestAnimationFrame(draw)
  }
  recorder.ondataavailable = ({ data }) => parts.push(data)
  recorder.onstop = () => {
    save(name, parts, 'video/webm')
    say(`The film of ${FILM_S} s is saved.`)
  }
  recorder.start()
  draw()
  say(`Recording ${FILM_S} s of what is seen.`)
  setTimeout(() => recorder.stop(), FILM_S * 1000)
}

const NS = 'http://www.w3.org/2000/svg'

function node(tag, properties, text) {
  const made = document.createElementNS(NS, tag)
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value)
  if (text !== undefined) made.textContent = text
  return made
}

/** The plots as an SVG drawing, made from their data. */
export function svg(plots) {
  const [width, height, left] = [720, 200, 60]
  const shown = plots.filter((plot) => !plot.root.parentElement.hidden)
  const root = node('svg', { xmlns: NS, viewBox: `0 0 ${width} ${shown.length * height}`, 'font-family': 'sans-serif', 'font-size': 12 })
  shown.forEach((plot, p) => {
    const { x, y } = plot.scales
    const log = x.distr === 3
    const across = (v) => (log ? Math.log(v) : v)
    const px = (v) => left + ((across(v) - across(x.min)) / (across(x.max) - across(x.min))) * (width - left - 10)
    const py = (v) => p * height + height - 30 - ((v - y.min) / (y.max - y.min)) * (height - 60)
    root.append(node('text', { x: left, y: p * height + 18 }, plot.root.parentElement.querySelector('figcaption').textContent))
    for (const v of [y.min, y.max]) root.append(node('text', { x: left - 6, y: py(v) + 4, 'text-anchor': 'end' }, v?.toPrecision(3)))
    for (const v of [x.min, x.max]) root.append(node('text', { x: px(v), y: p * height + height - 14, 'text-anchor': 'middle' }, v?.toPrecision(3)))
    root.append(node('path', { d: `M${left} ${py(y.max)}V${py(y.min)}H${width - 10}`, fill: 'none', stroke: '#888' }))
    plot.series.slice(1).forEach((series, s) => {
      if ((series.scale ?? 'y') !== 'y') return
      let d = ''
      plot.data[s + 1].forEach((v, i) => {
        if (v != null) d += `${d ? 'L' : 'M'}${px(plot.data[0][i]).toFixed(1)} ${py(v).toFixed(1)}`
      })
      const stroke = s < (plot.series.length - 1) / 2 ? '#0072b2' : '#d55e00'
      root.append(node('path', { d, fill: 'none', stroke, 'stroke-dasharray': series.dash?.join(' ') ?? '' }))
    })
  })
  return new XMLSerializer().serializeToString(root)
}

/** Makes the files that a button names, for both sides, and shows how to use them or why they could not be made. */
export function take(what, page) {
  const { sides, scenarios, plots, pictures, titles, captured, say } = page
  const name = (side) => `${page.name}-${'ab'[side]}`
  const does = {
    toml: () => scenarios.forEach((scenario, s) => save(`${name(s)}.toml`, [`# aqmlab run ${name(s)}.toml\n${toml(scenario)}`], 'application/toml')),
    csv: () => save('aqmlab.csv', [csv(sides)], 'text/csv'),
    png: () => png(plots.all(), 'aqmlab.png'),
    svg: () => save('aqmlab.svg', [svg(plots.all())], 'image/svg+xml'),
    pcap: () => sides.forEach((_, s) => captured(s, `${name(s)}.pcap`)),
    film: () =>
      film(
        pictures.map(({ canvas }) => canvas),
        titles,
        'aqmlab.webm',
        say,
      ),
  }
  try {
    does[what]()
  } catch (error) {
    return say(`${what.toUpperCase()} could not be made: ${error.message}`)
  }
  if (what === 'toml') say(`Run them with: aqmlab run ${name(0)}.toml && aqmlab run ${name(1)}.toml`)
}

/** Runs a whole scenario in a worker of its own and saves its capture; `progress` is called with the share of the run that is done. */
export async function capture(lab, text, name, progress) {
  try {
    const { chunks } = await lab.ask('whole', { text, pcap: MOST_PCAP }, progress)
    save(name, chunks, 'application/vnd.tcpdump.pcap')
  } finally {
    lab.close()
  }
}
