/** One side's run: what was seen of it so far, in memory that does not grow with what it simulates. */

import { ROW } from './engine.js'

/** Bins that a whole run is drawn with. */
const BINS = 1_500
/** Events of packets that are kept for the picture. */
const MOST_EVENTS = 12_000

/** Gauges drawn as the average queue, and as the probability: the first that a discipline shows. */
const AVERAGES = ['avg', 'avg_total', 'scalable_packets']
const PROBABILITIES = ['p', 'p_b', 'p_drop', 'p_base', 'accu_prob', 'max_p']

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
    /** Columns by name, a row for each bin; and for each second. */
    this.bins = { t: [], least: [], most: [], average: [], probability: [] }
    this.seconds = { t: [], rate: [], delay: [], loss: [], early: [], forced: [], overflow: [], superseded: [], marks: [] }
    this.goodput = {}
  }

  /** Begins a run of this scenario from its seed. */
  async start(text, duration) {
    this.run = (this.run ?? 0) + 1
    this.forget()
    this.duration = duration
    await this.lab.ask('start', { text, bin: Math.max(duration / BINS, 0.003) })
  }

  /** Moves towards `until`; whether it is there. What an older run answers is dropped. */
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
    const port = look.ports[0]
    this.#keepBins(port)
    this.#keepSeconds(look, port)
    if (!packets.length) return
    for (let i = 0; i < packets.length; i += ROW.numbers) this.events.push(packets.subarray(i, i + ROW.numbers))
    this.events.sort((a, b) => a[ROW.at] - b[ROW.at])
    if (this.events.length > MOST_EVENTS) this.events.splice(0, this.events.length - MOST_EVENTS)
  }

  #keepBins({ queue, gauges }) {
    const { bins } = this
    const first = (names) => gauges[names.find((name) => name in gauges)]
    const [average, probability] = [first(AVERAGES), first(PROBABILITIES)]
    this.gauge = PROBABILITIES.find((name) => name in gauges)
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

  #keepSeconds({ from_s, seconds: of_all }, { departures, ip_bytes, queue_delay_ns, drops, marks }) {
    const { seconds } = this
    departures.forEach((departed, i) => {
      const lost = ['early', 'forced', 'overflow', 'superseded'].map((why) => drops[why][i])
      seconds.t.push(from_s + i)
      seconds.rate.push((ip_bytes[i] * 8) / 1e6)
      seconds.delay.push(departed ? queue_delay_ns[i] / departed / 1e6 : 0)
      seconds.loss.push(lost[0] + lost[1] + lost[2])
      ;['early', 'forced', 'overflow', 'superseded'].forEach((why, w) => seconds[why].push(lost[w]))
      seconds.marks.push(marks.early[i] + marks.forced[i] + marks.overflow[i])
    })
    for (const [name, counts] of Object.entries(of_all)) {
      if (!name.endsWith('.goodput_bytes')) continue
      const group = (this.goodput[name.slice(0, -14)] ??= [])
      counts.forEach((bytes) => group.push((bytes * 8) / 1e6))
    }
  }

  /** Figures for the table beside the plots: of the end of the run, or of what was seen so far. */
  figures() {
    const s = this.summary
    const mean = (values) => (values.length ? values.reduce((sum, v) => sum + v, 0) / values.length : null)
    const { seconds, bins, look } = this
    const lost = seconds.loss.reduce((sum, v) => sum + v, 0)
    const answers = look?.responses
    return {
      queue: s?.queue_time_mean_packets ?? mean(bins.most),
      delay: s ? s.queue_delay_mean_s * 1e3 : mean(seconds.delay),
      rate: s ? (s.throughput_bytes_per_s * 8) / 1e6 : mean(seconds.rate),
      loss: s ? s.drop_rate * 100 : null,
      drops: s?.drops ?? lost,
      marks: s?.marks ?? seconds.marks.reduce((sum, v) => sum + v, 0),
      within: s?.share_le_1s != null ? s.share_le_1s * 100 : answers?.total ? (answers.within_1s / answers.total) * 100 : null,
      median: s?.response_p50_s != null ? s.response_p50_s * 1e3 : null,
      p90: s?.response_p90_s != null ? s.response_p90_s * 1e3 : null,
    }
  }
}
