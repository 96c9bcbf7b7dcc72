/** The moving picture of one side: servers, the queue before the line, clients; packets as bars. */

import { ROW } from './engine.js'

const [ARRIVED, STARTED, DROPPED, MARKED] = [0, 1, 2, 3]
const CAUSES = ['early', 'forced', 'overflow', 'superseded']
/** Height in pixels below which a picture shows fewer texts. */
const SMALL = 160
/** Largest and smallest width in pixels of a packet in flight; with many in flight, each is drawn narrower. */
const WIDEST = 10
const NARROWEST = 1.5
/** Most queues that a picture shows. */
const MOST_QUEUES = 4
/** Seconds of wall-clock time that a packet is drawn before it reaches the queue and after it has left. */
const FLIGHT_S = 0.6
/** Colours of flows, most of them from Okabe and Ito's palette for colour-blind readers. */
export const FLOWS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#999933', '#882255']

const colour = (event, groups) => FLOWS[(groups > 1 ? event[ROW.group] : event[ROW.user]) % FLOWS.length]

/** A common scale of both sides for each queue, in packets: the larger of the two wanted ones. The previous scale stays while it is large enough and at most twice too large. */
export function commonScale(wanted, before = []) {
  const number = Math.max(...wanted.map((of) => of.length), 1)
  return Array.from({ length: number }, (_, q) => {
    const most = Math.max(10, ...wanted.map((of) => of[q] ?? 0))
    const now = before[q]
    return !now || most > now || most < now / 2 ? most : now
  })
}

export class Picture {
  /** `dragged(name, packets, queue)` is called when the user has moved a threshold. */
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
    /** For each queue, the waiting packets by number with their arrival events, and the groups seen; numbers of marked packets; recent drops. */
    this.waiting = []
    this.groups = []
    this.taken = -Infinity
    this.marked = new Set()
    this.losses = []
  }

  /** The number of packets that the width of each queue of `side` should stand for; both sides' wishes make the common scale. */
  wanted(side, thresholds) {
    return side.queues.slice(0, MOST_QUEUES).map(({ bins }, q) => {
      const seen = bins.most.reduce((most, v) => Math.max(most, v), this.waiting[q]?.size ?? 0)
      // A limit far above the backlog is not drawn: the backlog would shrink to a line.
      const limits = (thresholds[q] ?? []).filter(({ name, packets }) => name !== 'limit' || packets < 3 * seen).map(({ packets }) => packets)
      return Math.max(10, ...limits.map((v) => v * 1.15), seen * 1.15)
    })
  }

  /** Index in the picture of the queue whose port an event is from; undefined for ports of the reverse direction. */
  #place(event) {
    return this.places.get(event[ROW.port])
  }

  /** Updates the waiting packets by the events up to the instant `at`. */
  #follow(events, at) {
    for (const event of events) {
      const place = this.#place(event)
      if (event[ROW.at] <= this.taken || event[ROW.at] > at || place === undefined) continue
      const [what, id] = [event[ROW.what], event[ROW.id]]
      const waiting = (this.waiting[place] ??= new Map())
      if (what === ARRIVED) {
        waiting.set(id, event)
        if (place === 0) this.marked.delete(id)
        ;(this.groups[place] ??= new Set()).add(event[ROW.group])
      } else if (what === MARKED) this.marked.add(id)
      else {
        if (what === DROPPED) this.losses.push(event)
        waiting.delete(id)
      }
    }
    this.taken = Math.max(this.taken, at)
    this.losses = this.losses.slice(-60)
  }

  /** Computes the layout of a picture with `number` queues in series, from left to right. */
  #sizes(number) {
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
    const wrong = style.getPropertyValue('--wrong')
    const ink = style.getPropertyValue('--ink')
    const faint = style.getPropertyValue('--faint')
    const small = height < SMALL
    const each = (width * (number > 1 ? 0.72 : 0.6)) / number
    const boxes = Array.from({ length: number }, (_, i) => ({ x: width * (number > 1 ? 0.14 : 0.2) + i * each, w: each * (number > 1 ? 0.78 : 5 / 6), y: height * (small ? 0.34 : 0.24), h: height * (small ? 0.34 : 0.4) }))
    return { pen, width, height, small, ink, faint, wrong, boxes, line: boxes[0].y + boxes[0].h / 2, back: height * (small ? 0.96 : 0.9) }
  }

  /** Draws the instant `at`, with single packets if `packets` is true. `speed` is in simulated seconds per second, `thresholds` are those of each queue, `scale` is the number of packets that each queue's width stands for. */
  draw(side, at, speed, { thresholds, packets, groups, scale, lanes }) {
    const queues = side.queues.slice(0, MOST_QUEUES)
    this.places = new Map(queues.map(({ port }, place) => [port, place]))
    const size = (this.size = this.#sizes(queues.length || 1))
    const { pen, width, height } = size
    pen.clearRect(0, 0, width, height)
    pen.font = '12px system-ui, sans-serif'
    this.most = scale
    // Events that the side has not simulated yet must not be skipped.
    if (packets) this.#follow(side.events, Math.min(at, side.now))
    this.#stage(size, queues, packets)
    if (packets) {
      size.boxes.forEach((box, q) => (this.#missed(queues[q], q, at) ? this.#level(size, box, queues[q], q, at) : this.#queue(pen, box, q, groups, q === 0 ? lanes : undefined, size)))
      this.#flights(size, side.events, at, speed, groups)
      this.#losses(size, at, speed)
    } else {
      this.forget()
      queues.forEach((queue, q) => this.#level(size, size.boxes[q], queue, q, at))
    }
    this.handles = queues.flatMap((queue, q) => this.#thresholds(size, size.boxes[q], q, thresholds[q], queue))
  }

  #stage({ pen, width, small, ink, faint, boxes, line, back }, queues, packets) {
    const [box] = boxes
    pen.fillStyle = ink
    pen.textAlign = 'left'
    pen.fillText('servers', 4, line - box.h * 0.7)
    pen.textAlign = 'right'
    pen.fillText('clients', width - 4, line - box.h * 0.7)
    if (!small) pen.fillText('acknowledgements', width - 4, back + 16)
    pen.textAlign = 'left'
    pen.strokeStyle = faint
    pen.lineWidth = 1
    pen.beginPath()
    let from = 4
    boxes.forEach(({ x, y, w, h }, q) => {
      const name = queues.length > 1 ? queues[q].name.split('.')[0] : 'queue'
      const waiting = packets && !this.#missed(queues[q], q, this.taken) ? `: ${this.waiting[q]?.size ?? 0}${queues.length > 1 ? '' : ' packets wait'}` : ''
      pen.font = 'bold 12px system-ui, sans-serif'
      pen.fillText(`${name}${waiting}`, x, y - 18)
      pen.font = '12px system-ui, sans-serif'
      // The ends of the scale, in packets.
      pen.fillText(Math.round(this.most[q] ?? 10).toLocaleString('en'), x, y + h + 14)
      pen.fillText('0', x + w - 7, y + h + 14)
      pen.strokeRect(x, y, w, h)
      pen.moveTo(from, line)
      pen.lineTo(x, line)
      from = x + w
    })
    for (const [start, y] of [
      [from, line],
      [4, back],
    ]) {
      pen.moveTo(start, y)
      pen.lineTo(width - 4, y)
    }
    pen.stroke()
  }

  /** Whether many more packets wait than arrival events were seen, as after a time simulated without packet events. */
  #missed(queue, q, at) {
    if (!queue) return false
    const { t, least } = queue.bins
    let last = t.length - 1
    while (last > 0 && t[last] > at) last--
    return (least[last] ?? 0) > 2 * (this.waiting[q]?.size ?? 0) + 2
  }

  /** Draws each waiting packet as a bar; the next to leave is at the right. */
  #queue(pen, box, q, groups, lanes, { ink, faint }) {
    const step = box.w / this.most[q]
    const number = lanes?.number ?? 1
    const high = box.h / number
    const places = Array(number).fill(0)
    for (const [id, event] of this.waiting[q] ?? []) {
      const lane = lanes ? lanes.of(event[ROW.group], event[ROW.user]) : 0
      const x = box.x + box.w - (places[lane] + 1) * step
      if (x < box.x) continue
      const inset = number > 1 ? 1 : 2
      this.#bar(pen, x, box.y + lane * high + inset, Math.max(step - (step > 3 ? 1 : 0), 0.7), high - 2 * inset, event, this.marked.has(id), groups)
      places[lane]++
    }
    pen.strokeStyle = faint
    pen.fillStyle = ink
    pen.textAlign = 'left'
    for (let lane = 0; lane < number && number > 1; lane++) {
      if (lane) pen.fillRect(box.x, box.y + lane * high, box.w, 0.5)
      if (lanes.names[lane]) pen.fillText(lanes.names[lane], box.x + 4, box.y + (lane + 0.5) * high + 4)
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

  /** Draws packets on their way to and from the queues, and acknowledgements on the reverse path. */
  #flights({ pen, width, boxes, line, back }, events, at, speed, groups) {
    const span = FLIGHT_S * speed
    // The width is chosen such that all packets on the busier side of the first queue fit next to each other.
    const seen = events.filter((event) => Math.abs(at - event[ROW.at]) <= span && this.#place(event) === 0)
    const most = Math.max(...[STARTED, ARRIVED].map((what) => seen.filter((event) => event[ROW.what] === what && (what === STARTED) === event[ROW.at] <= at).length), 1)
    const size = Math.min(WIDEST, Math.max(NARROWEST, (0.7 * boxes[0].x) / most))
    const packet = (x, y, event, marked = false) => this.#bar(pen, x, y - 10, size, 20, event, marked, groups)
    for (const event of events) {
      const ago = (at - event[ROW.at]) / span
      if (ago < -1 || ago > 1) continue
      const [what, place] = [event[ROW.what], this.#place(event)]
      if (place === undefined) {
        if (what === STARTED && ago >= 0) this.#bar(pen, width - 8 - ago * (width - 16), back - 4, 4, 8, event, false, groups)
        continue
      }
      const box = boxes[place]
      if (what === STARTED && ago >= 0) {
        const end = boxes[place + 1]?.x ?? width - 8
        packet(box.x + box.w + ago * (end - size - box.x - box.w), line, event, this.marked.has(event[ROW.id]))
      } else if (what === ARRIVED && ago < 0) {
        if (place === 0) packet(4 + (1 + ago) * (box.x - 4 - size), line, event)
        // Only traffic that joins at this queue is drawn; packets from the previous queue are drawn when they leave that one.
        else if (!this.groups[place - 1]?.has(event[ROW.group])) packet(box.x - size - 2, box.y - 30 + (1 + ago) * (line - box.y + 30), event)
      }
    }
  }

  #losses({ pen, width, boxes, back, wrong, ink }, at, speed) {
    const causes = {}
    for (const event of this.losses) {
      const ago = (at - event[ROW.at]) / (FLIGHT_S * speed)
      if (ago < 0 || ago > 1.5) continue
      const box = boxes[this.#place(event)]
      if (!box) continue
      const overflow = event[ROW.why] === 2
      const x = overflow ? box.x + 6 : box.x + box.w * 0.15 + ((event[ROW.id] % 7) / 7) * box.w * 0.6
      const y = box.y + box.h + 2 + Math.min(1, ago) * (back - box.y - box.h - 16)
      causes[CAUSES[event[ROW.why]] ?? 'lost'] = (causes[CAUSES[event[ROW.why]] ?? 'lost'] ?? 0) + 1
      pen.strokeStyle = wrong
      pen.lineWidth = 2.5
      for (const sign of [-1, 1]) {
        pen.beginPath()
        pen.moveTo(x - 4, y + 5 - 4 * sign)
        pen.lineTo(x + 4, y + 5 + 4 * sign)
        pen.stroke()
      }
      pen.lineWidth = 1
    }
    pen.fillStyle = ink
    pen.textAlign = 'right'
    const words = Object.entries(causes).map(([cause, number]) => `${number} ${cause}`)
    if (words.length) pen.fillText(`dropped: ${words.join(', ')}`, width - 4, back - 8)
  }

  /** Draws the smallest and largest backlog of the last interval, when single packets are too fast to be drawn. */
  #level({ pen, small, ink, boxes, line }, box, { bins, last: second }, q, at) {
    let last = bins.t.length - 1
    while (last > 0 && bins.t[last] > at) last--
    if (last < 0) return
    const w = (packets) => Math.min(1, packets / this.most[q]) * box.w
    for (const [of, fill] of [
      [bins.most, FLOWS[4]],
      [bins.least, FLOWS[0]],
    ]) {
      pen.fillStyle = fill
      pen.fillRect(box.x + box.w - w(of[last]), box.y + 2, w(of[last]), box.h - 4)
    }
    pen.fillStyle = ink
    pen.textAlign = 'left'
    if (!second) return
    const rate = `${second.rate.toFixed(2)} Mbit/s`
    const counts = [`${second.loss} lost/s`, `${second.marks} marked/s`]
    if (boxes.length === 1) pen.fillText(rate, box.x + box.w + 4, line - 5)
    // A small picture has room for one line of text below its queues.
    const several = small ? [`${rate}, ${counts[0]}`] : [rate, ...counts]
    const below = boxes.length === 1 ? [counts.join(', ')] : several
    below.forEach((text, i) => pen.fillText(text, box.x, box.y + box.h + 26 + 13 * i))
  }

  /** Draws a queue's thresholds and its average. Returns the handles by which thresholds can be dragged. */
  #thresholds({ pen, ink }, box, q, thresholds, { bins }) {
    const near = thresholds.filter(({ packets }) => packets <= this.most[q])
    const handles = near.map(({ name, packets }) => ({ name, queue: q, box, x: this.#x(box, q, packets) }))
    pen.textAlign = 'center'
    let named = Infinity
    for (const { name, x } of handles.toSorted((a, b) => b.x - a.x)) {
      const held = this.held?.name === name && this.held.queue === q
      const now = held ? this.held.x : x
      pen.strokeStyle = pen.fillStyle = ink
      pen.setLineDash([4, 3])
      this.#vertical(pen, now, box.y - 6, box.y + box.h + 6)
      pen.setLineDash([])
      const words = held ? `${name} ${this.held.packets}` : name
      const half = pen.measureText(words).width / 2
      // A name that would overlap its neighbour's is shown only while its line is dragged.
      if (held || now + half + 4 < named) {
        pen.fillText(words, now, box.y - 4)
        named = now - half
      }
    }
    const average = bins.average.at(-1)
    if (average != null) {
      pen.strokeStyle = '#d55e00'
      pen.lineWidth = 2
      this.#vertical(pen, this.#x(box, q, Math.min(average, this.most[q])), box.y, box.y + box.h)
      pen.lineWidth = 1
    }
    return handles
  }

  #vertical(pen, x, from, to) {
    pen.beginPath()
    pen.moveTo(x, from)
    pen.lineTo(x, to)
    pen.stroke()
  }

  #x(box, q, packets) {
    return box.x + box.w * (1 - packets / this.most[q])
  }

  #grab(event) {
    const near = this.handles?.find(({ x }) => Math.abs(x - event.offsetX) < 12)
    if (!near || event.offsetY > near.box.y + near.box.h + 12) return
    this.canvas.setPointerCapture(event.pointerId)
    this.held = { ...near, packets: undefined }
  }

  #drag(event) {
    if (!this.held) return
    const { box, queue } = this.held
    const share = 1 - (event.offsetX - box.x) / box.w
    this.held.x = event.offsetX
    this.held.packets = Math.max(1, Math.round(Math.min(1, share) * this.most[queue]))
  }

  #drop() {
    const { held } = this
    this.held = undefined
    if (held?.packets) this.dragged(held.name, held.packets, held.queue)
  }
}
