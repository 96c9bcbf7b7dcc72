/** One side's run, and the observations of it so far, in memory that does not grow with the run. */

import { ROW } from './engine.js'
import { Seconds } from './seconds.js'

/** Number of time bins in which a whole run is drawn. */
const BINS = 1_500
/** Most packets whose arrival time is stored to compute their waiting time. */
const MOST_WAITING = 20_000
/** Most packet events that are kept for the picture. */
const MOST_EVENTS = 12_000

/** Names of gauges drawn as the average queue, and as the probability: the first that a discipline has. */
const AVERAGES = ['avg', 'avg_total', 'scalable_packets']
const PROBABILITIES = ['p', 'p_b', 'p_drop', 'p_base', 'accu_prob', 'max_p']
const [ARRIVED, STARTED, DROPPED] = [0, 1, 2]
const CAUSES = ['early', 'forced', 'overflow', 'superseded']

const first = (gauges, names) => gauges[names.find((name) => name in gauges)]
/** A number times a factor; null if it is not a number. */
const times = (v, factor) => (typeof v === 'number' ? v * factor : null)
const sum = (values) => values.reduce((all, v) => all + v, 0)

export class Side {
  constructor(lab) {
    this.lab = lab
    this.forget()
  }

  forget() {
    this.now = 0
    this.over = false
    this.summary = undefined
    this.look = undefined
    this.memory = 0
    this.events = []
    /** The queues in the order of the path, each with its name, the index of its port, bins, and the measures of the last second. */
    this.queues = []
    this.seconds = new Seconds()
    /** For the first queue, from packet events: arrival times of waiting packets, and sum and number of waiting times by bin. */
    this.came = new Map()
    this.waits = []
    /** Number of packets that the first queue dropped, from packet events. */
    this.dropped = 0
    this.totals = { drops: 0, marks: 0 }
  }

  /** Bins of the first queue, which the plots show. */
  get bins() {
    return this.queues[0]?.bins ?? emptyBins()
  }

  /** Starts a run of this scenario from time zero. */
  async start(text, duration) {
    this.run = (this.run ?? 0) + 1
    this.forget()
    this.duration = duration
    await this.lab.ask('start', { text, bin: Math.max(duration / BINS, 0.003) })
  }

  /** Advances towards `until`. Returns whether it is reached. Answers of an older run are discarded. */
  async advance(until, packets) {
    const run = this.run
    const seen = await this.lab.ask('watch', { until, packets })
    if (run !== this.run) return false
    this.#keep(seen)
    if (this.now >= this.duration && !this.over) {
      const summary = await this.lab.ask('finish')
      if (run !== this.run) return false
      this.summary = summary
      this.over = true
    }
    return this.now >= until
  }

  #keep({ now, look, packets, memory }) {
    this.now = now
    this.look = look
    this.memory = memory
    if (!this.queues.length) this.queues = queues(look.ports)
    for (const queue of this.queues) keepBins(queue, look.ports[queue.port])
    this.#keepSeconds(look, look.ports[0])
    if (!packets.length) return
    for (let i = 0; i < packets.length; i += ROW.numbers) {
      const event = packets.subarray(i, i + ROW.numbers)
      this.events.push(event)
      if (event[ROW.port] === this.queues[0].port) this.#wait(event)
    }
    this.events.sort((a, b) => a[ROW.at] - b[ROW.at])
    if (this.events.length > MOST_EVENTS) this.events.splice(0, this.events.length - MOST_EVENTS)
  }

  /** Adds the waiting time of a packet that leaves the first queue to its bin. */
  #wait(event) {
    const [at, what, id] = [event[ROW.at], event[ROW.what], event[ROW.id]]
    if (what === ARRIVED && this.came.size < MOST_WAITING) this.came.set(id, at)
    if (what !== STARTED && what !== DROPPED) return
    const came = this.came.get(id)
    this.came.delete(id)
    if (what === DROPPED) this.dropped++
    if (what === DROPPED || came === undefined) return
    const bin = Math.floor((at / this.duration) * BINS)
    const mean = (this.waits[bin] ??= { sum: 0, number: 0 })
    mean.sum += (at - came) * 1e3
    mean.number++
  }

  /** Mean waiting time in ms over the packets with events. */
  #seen() {
    const bins = this.waits.filter(Boolean)
    const number = sum(bins.map((of) => of.number))
    return number ? sum(bins.map((of) => of.sum)) / number : null
  }

  /** Mean waiting times in the first queue over time, ms: for each bin where there were packet events, else for each second. */
  delays() {
    const fine = this.waits.flatMap((of, bin) => [[((bin + 0.5) / BINS) * this.duration, of.sum / of.number]])
    const { t, width, columns } = this.seconds
    const seen = new Set(fine.map(([at]) => Math.floor(at / width)))
    const coarse = t.flatMap((at, i) => (seen.has(Math.floor(at / width)) || columns.delay?.[i] == null ? [] : [[at + width / 2, columns.delay[i]]]))
    const all = [...fine, ...coarse].sort(([a], [b]) => a - b)
    return { t: all.map(([at]) => at), values: all.map(([, ms]) => ms) }
  }

  #keepSeconds({ from_s, seconds: of_all }, { departures, ip_bytes, queue_delay_ns, drops, marks }) {
    const more = Object.entries(of_all).filter(([name]) => /\.(goodput_bytes|delay_mean_s|frame_delay_mean_s|still_share)$/.test(name))
    departures.forEach((departed, i) => {
      const lost = CAUSES.map((why) => drops[why][i])
      const marked = marks.early[i] + marks.forced[i] + marks.overflow[i]
      this.totals.drops += sum(lost) - lost[3]
      this.totals.marks += marked
      const row = { rate: (ip_bytes[i] * 8) / 1e6, delay: departed ? queue_delay_ns[i] / departed / 1e6 : 0, loss: sum(lost) - lost[3], marks: marked }
      CAUSES.forEach((why, w) => (row[why] = lost[w]))
      for (const [name, column] of more) row[name] = column[i]
      this.seconds.add(from_s + i, row)
    })
    for (const queue of this.queues) {
      const { ip_bytes: bytes, drops: dropped, marks: marked } = this.look.ports[queue.port]
      const last = bytes.length - 1
      if (last >= 0) queue.last = { rate: (bytes[last] * 8) / 1e6, loss: sum(CAUSES.slice(0, 3).map((why) => dropped[why][last])), marks: marked.early[last] + marked.forced[last] + marked.overflow[last] }
    }
  }

  /** The numbers of the table: from the summary at the end of the run, before that from the observations so far. */
  figures() {
    const s = this.summary
    const mean = (values) => (values.length ? sum(values) / values.length : null)
    const { seconds, bins, look, totals } = this
    const answers = look?.responses
    return {
      queue: s?.queue_time_mean_packets ?? mean(bins.most),
      delay: s ? times(s.queue_delay_mean_s, 1e3) : (mean(seconds.columns.delay ?? []) ?? this.#seen()),
      p99: s ? times(s.queue_delay_p99_s, 1e3) : null,
      rate: s ? times(s.throughput_bytes_per_s, 8e-6) : mean(seconds.columns.rate ?? []),
      loss: s ? times(s.drop_rate, 100) : null,
      drops: s?.drops ?? Math.max(totals.drops, this.dropped),
      marks: s?.marks ?? totals.marks,
      within: s?.share_le_1s != null ? s.share_le_1s * 100 : answers?.total ? (answers.within_1s / answers.total) * 100 : null,
      median: s?.response_p50_s != null ? s.response_p50_s * 1e3 : null,
      p90: s?.response_p90_s != null ? s.response_p90_s * 1e3 : null,
    }
  }
}

const emptyBins = () => ({ t: [], least: [], most: [], average: [], probability: [] })

/** The ports with the direction of the first port; the others are of the reverse path. */
function queues(ports) {
  const direction = (name) => name.slice(name.lastIndexOf('.') + 1)
  const way = direction(ports[0].name)
  const found = ports.map(({ name }, port) => ({ name, port, bins: emptyBins(), last: undefined }))
  return found.filter(({ name }) => direction(name) === way)
}

function keepBins({ bins }, { queue, gauges }) {
  const [average, probability] = [first(gauges, AVERAGES), first(gauges, PROBABILITIES)]
  queue.least.forEach((least, i) => {
    const t = queue.from_s + i * queue.width_s
    if (bins.t.length && t <= bins.t.at(-1)) return
    bins.t.push(t)
    bins.least.push(least)
    bins.most.push(queue.most[i])
    bins.average.push(average?.most[i] ?? null)
    bins.probability.push(probability?.most[i] ?? null)
  })
}
