/** Workers as promises; a trapped or stuck one is replaced. */

import { Refused, Trapped } from './engine.js'

/** Longest time without an answer before a worker is given up. */
const STUCK_MS = 60_000

export class Lab {
  #worker
  #waiting = new Map()
  #next = 0

  /** @param {Promise<WebAssembly.Module>} module */
  constructor(module) {
    this.module = module
    this.#begin()
  }

  #begin() {
    this.#worker = new Worker('worker.js', { type: 'module' })
    this.#worker.onmessage = ({ data }) => this.#told(data)
    this.#worker.onerror = (event) => this.#lost(`the simulator's worker failed (${event.message || 'it did not begin'})`)
    this.ready = this.module.then((module) => this.#worker?.postMessage({ what: 'module', module }))
  }

  #told({ id, answer, refused, trapped, part }) {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    if (part !== undefined) return waiting.alive(part)
    clearTimeout(waiting.timer)
    this.#waiting.delete(id)
    if (refused !== undefined) waiting.reject(new Refused(refused))
    else if (trapped !== undefined) {
      waiting.reject(new Trapped(trapped))
      this.#lost(trapped)
    } else waiting.resolve(answer)
  }

  /** Begins anew with another worker; whoever waits is told why. */
  #lost(why) {
    this.#worker.terminate()
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#begin()
    for (const { reject, timer } of waiting) {
      clearTimeout(timer)
      reject(new Trapped(why))
    }
  }

  /** Asks the worker; `heard` is told the share of a whole run that is done. */
  async ask(what, data = {}, heard = undefined) {
    await this.ready
    const id = this.#next++
    return new Promise((resolve, reject) => {
      const stuck = () => this.#lost('the simulator did not answer for a minute and was stopped: shorten the run, or give fewer users')
      const waiting = { resolve, reject, timer: setTimeout(stuck, STUCK_MS) }
      waiting.alive = (part) => {
        clearTimeout(waiting.timer)
        waiting.timer = setTimeout(stuck, STUCK_MS)
        heard?.(part)
      }
      this.#waiting.set(id, waiting)
      this.#worker.postMessage({ id, what, ...data })
    })
  }

  close() {
    this.#worker.terminate()
    for (const { timer } of this.#waiting.values()) clearTimeout(timer)
    this.#waiting.clear()
  }
}
