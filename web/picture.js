/** The moving picture of one side: servers, the queue before the line, clients; packets as bars. */

import { ROW } from './engine.js'

const [ARRIVED, STARTED, DROPPED, MARKED] = [0, 1, 2, 3]
const CAUSES = ['early', 'forced', 'overflow', 'superseded']
/** Seconds of wall clock that a packet is seen before the queue and after it. */
const FLIGHT_S = 0.6
/** Okabe and Ito's colours, told apart by colour-blind eyes. */
const FLOWS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#999933', '#882255']

const colour = (event, groups) => FLOWS[(groups > 1 ? event[ROW.group] : event[ROW.user]) % FLOWS.length]

export class Picture {
  /** `dragged(name, packets)` is called when a threshold was moved. */
  constructor(canvas, dragged) {
    this.canvas = canvas
    this.dragged = dragged
    this.forget()
    canvas.addEventListener('pointerdown', (event) => this.#grab(event))
    canvas.addEventListener('pointermove', (event) => this.#drag(event))
    canvas.addEventListener('pointerup', () => this.#drop())
    canvas.addEventListener('pointercancel', () => (this.held = undefined))
  }

  forget() {
    this.waiting = new Map()
    this.taken = -Infinity
    this.marked = new Set()
    this.losses = []
  }

  /** Brings what waits up to the instant `at`. */
  #follow(events, at) {
    for (const event of events) {
      if (event[ROW.at] <= this.taken || event[ROW.at] > at || event[ROW.port] !== 0) continue
      const [what, id] = [event[ROW.what], event[ROW.id]]
      if (what === ARRIVED) {
        this.waiting.set(id, event)
        this.marked.delete(id)
      } else if (what === MARKED) this.marked.add(id)
      else {
        if (what === DROPPED) this.losses.push(event)
        this.waiting.delete(id)
      }
    }
    this.taken = Math.max(this.taken, at)
    this.losses = this.losses.slice(-60)
  }

  #sizes() {
    const { canvas } = this
    const ratio = Math.min(devicePixelRatio || 1, 2)
    const [width, height] = [canvas.clientWidth, canvas.clientHeight]
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio)
      canvas.height = Math.round(height * ratio)
    }
    const pen = canvas.getContext('2d')
    pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    const style = getComputedStyle(canvas)
    const ink = style.getPropertyValue('--ink')
    const faint = style.getPropertyValue('--faint')
    const queue = { x: width * 0.2, w: width * 0.5, y: height * 0.28, h: height * 0.3 }
    return { pen, width, height, ink, faint, queue, line: queue.y + queue.h / 2, back: height * 0.86 }
  }

  /** Draws the instant `at`, with packets if `speed` (simulated seconds a second) lets them be seen. */
  draw(side, at, speed, { thresholds, packets, groups, label }) {
    this.side = side
    const size = (this.size = this.#sizes())
    const { pen, width, height } = size
    pen.clearRect(0, 0, width, height)
    pen.font = '12px system-ui, sans-serif'
    this.#scale(side, thresholds)
    this.#stage(size, label)
    if (packets) {
      this.#follow(side.events, at)
      this.#queue(size, groups)
      this.#flights(size, side.events, at, speed, groups)
      this.#losses(size, at, speed)
    } else {
      this.forget()
      this.#level(size, side, at)
    }
    this.#thresholds(size, thresholds, side)
  }

  /** Packets that the queue's width stands for. */
  #scale(side, thresholds) {
    const seen = side.bins.most.reduce((most, v) => Math.max(most, v), this.waiting?.size ?? 0)
    // A limit that is far away is not drawn: what waits would be a line.
    const limits = thresholds.filter(({ name, packets }) => name !== 'limit' || packets < 3 * seen).map(({ packets }) => packets)
    const wanted = Math.max(10, ...limits.map((v) => v * 1.15), seen * 1.15)
    if (!this.most || wanted > this.most || wanted < this.most / 2) this.most = wanted
  }

  #stage({ pen, width, ink, faint, queue, line, back }, label) {
    pen.fillStyle = ink
    pen.textAlign = 'left'
    pen.fillText('servers', 4, line - queue.h * 0.7)
    pen.textAlign = 'right'
    pen.fillText('clients', width - 4, line - queue.h * 0.7)
    pen.fillText(label, width - 4, 14)
    pen.textAlign = 'left'
    pen.fillText(`queue (box: ${Math.round(this.most)} packets)`, queue.x, queue.y - 18)
    pen.strokeStyle = faint
    pen.lineWidth = 1
    pen.strokeRect(queue.x, queue.y, queue.w, queue.h)
    pen.beginPath()
    for (const [from, to, y] of [[4, queue.x, line], [queue.x + queue.w, width - 4, line], [4, width - 4, back]]) {
      pen.moveTo(from, y)
      pen.lineTo(to, y)
    }
    pen.stroke()
  }

  /** Each waiting packet a bar, the next to leave at the right. */
  #queue({ pen, queue }, groups) {
    const step = queue.w / this.most
    let place = 0
    for (const [id, event] of this.waiting) {
      const x = queue.x + queue.w - (place + 1) * step
      if (x < queue.x) break
      this.#bar(pen, x, queue.y + 2, Math.max(step - (step > 3 ? 1 : 0), 0.7), queue.h - 4, event, this.marked.has(id), groups)
      place++
    }
  }

  #bar(pen, x, y, w, h, event, marked, groups) {
    const share = Math.min(1, 0.35 + (0.65 * event[ROW.bytes]) / 1500)
    pen.fillStyle = colour(event, groups)
    pen.fillRect(x, y + h * (1 - share), w, h * share)
    if (marked) {
      pen.fillStyle = '#f0e442'
      pen.fillRect(x, y, w, h * 0.25)
    }
  }

  /** Packets on their way to the queue, from it, and acknowledgements coming back. */
  #flights({ pen, width, queue, line, back }, events, at, speed, groups) {
    const span = FLIGHT_S * speed
    const size = 9
    for (const event of events) {
      const ago = (at - event[ROW.at]) / span
      if (ago < -1 || ago > 1) continue
      const [what, reverse] = [event[ROW.what], event[ROW.port] !== 0]
      if (reverse) {
        if (what !== STARTED || ago < 0) continue
        this.#bar(pen, width - 8 - ago * (width - 16), back - 4, 4, 8, event, false, groups)
      } else if (what === ARRIVED && ago < 0) {
        this.#bar(pen, 4 + (1 + ago) * (queue.x - 4 - size), line - size, size, 2 * size, event, false, groups)
      } else if (what === STARTED && ago >= 0) {
        const room = width - 8 - queue.x - queue.w - size
        this.#bar(pen, queue.x + queue.w + ago * room, line - size, size, 2 * size, event, this.marked.has(event[ROW.id]), groups)
      }
    }
  }

  #losses({ pen, queue, back }, at, speed) {
    pen.textAlign = 'center'
    for (const event of this.losses) {
      const ago = (at - event[ROW.at]) / (FLIGHT_S * speed)
      if (ago < 0 || ago > 1.5) continue
      const overflow = event[ROW.why] === 2
      const x = overflow ? queue.x + 6 : queue.x + queue.w * 0.15 + ((event[ROW.id] % 7) / 7) * queue.w * 0.6
      const y = queue.y + queue.h + Math.min(1, ago) * (back - queue.y - queue.h - 24)
      pen.fillStyle = '#d55e00'
      pen.fillRect(x - 3, y, 7, 12)
      pen.fillText(CAUSES[event[ROW.why]] ?? 'lost', x, y + 24)
    }
  }

  /** How full the queue was in the last interval, where single packets are too fast to be seen. */
  #level({ pen, queue, ink, line }, side, at) {
    const { bins, seconds } = side
    let last = bins.t.length - 1
    while (last > 0 && bins.t[last] > at) last--
    if (last < 0) return
    const w = (packets) => Math.min(1, packets / this.most) * queue.w
    pen.fillStyle = FLOWS[4]
    pen.fillRect(queue.x + queue.w - w(bins.most[last]), queue.y + 2, w(bins.most[last]), queue.h - 4)
    pen.fillStyle = FLOWS[0]
    pen.fillRect(queue.x + queue.w - w(bins.least[last]), queue.y + 2, w(bins.least[last]), queue.h - 4)
    pen.fillStyle = ink
    pen.textAlign = 'left'
    const rate = seconds.rate.at(-1)
    if (rate === undefined) return
    pen.fillText(`${rate.toFixed(2)} Mbit/s`, queue.x + queue.w + 4, line - 5)
    pen.fillText(`${seconds.loss.at(-1)} lost/s, ${seconds.marks.at(-1)} marked/s`, queue.x, queue.y + queue.h + 18)
  }

  #thresholds({ pen, queue, ink }, thresholds, side) {
    const near = thresholds.filter(({ packets }) => packets <= this.most)
    this.handles = near.map(({ name, packets }) => ({ name, x: this.#x(queue, packets) }))
    pen.textAlign = 'center'
    for (const { name, x } of this.handles) {
      const held = this.held?.name === name
      const now = held ? this.held.x : x
      pen.strokeStyle = pen.fillStyle = ink
      pen.setLineDash([4, 3])
      this.#vertical(pen, now, queue.y - 6, queue.y + queue.h + 6)
      pen.setLineDash([])
      pen.fillText(held ? `${name} ${this.held.packets}` : name, now, queue.y - 4)
    }
    const average = side.bins.average.at(-1)
    if (average != null) {
      pen.strokeStyle = '#d55e00'
      pen.lineWidth = 2
      this.#vertical(pen, this.#x(queue, Math.min(average, this.most)), queue.y, queue.y + queue.h)
      pen.lineWidth = 1
    }
  }

  #vertical(pen, x, from, to) {
    pen.beginPath()
    pen.moveTo(x, from)
    pen.lineTo(x, to)
    pen.stroke()
  }

  #x(queue, packets) {
    return queue.x + queue.w * (1 - packets / this.most)
  }

  #grab(event) {
    const near = this.handles?.find(({ x }) => Math.abs(x - event.offsetX) < 12)
    if (!near || event.offsetY > this.size.queue.y + this.size.queue.h + 12) return
    this.canvas.setPointerCapture(event.pointerId)
    this.held = { ...near, packets: undefined }
  }

  #drag(event) {
    if (!this.held) return
    const { queue } = this.size
    const share = 1 - (event.offsetX - queue.x) / queue.w
    this.held.x = event.offsetX
    this.held.packets = Math.max(1, Math.round(Math.min(1, share) * this.most))
  }

  #drop() {
    const { held } = this
    this.held = undefined
    if (held?.packets) this.dragged(held.name, held.packets)
  }
}
