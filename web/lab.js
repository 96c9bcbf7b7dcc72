/** Workers that run the simulator, with requests as promises; a worker that trapped or hangs is replaced. */

import { OwnFailed, Refused, Trapped } from './engine.js'

/** Longest time without an answer, in ms, before a worker is replaced. */
const STUCK_MS = 60_000
/** The same limit for runs with a user's own congestion control, which may have an endless loop. */
const OWN_MS = 10_000
const MOST_OWN_BYTES = 4 << 20

/** The user's own congestion controls, as modules, which every new worker gets. */
const own = []

/** Adds a congestion control, given as the bytes of its module, to the workers of `labs`. Returns its name. */
export async function give(bytes, labs) {
  if (bytes.byteLength > MOST_OWN_BYTES) throw new Error(`that file has ${bytes.byteLength} bytes, more than a control's ${MOST_OWN_BYTES >> 20} MiB`)
  const module = await WebAssembly.compile(bytes).catch(() => {
    throw new Error('that file is no module of WebAssembly: build it with make wasm')
  })
  const [name] = await Promise.all(labs.map((lab) => lab.ask('own', { module })))
  own.push(module)
  return name
}

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
    this.ready = this.module.then((module) => {
      this.#worker?.postMessage({ what: 'module', module })
      for (const module of own) this.#worker?.postMessage({ what: 'own', module })
    })
  }

  #told({ id, answer, refused, failed, trapped, part }) {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    if (part !== undefined) return waiting.alive(part)
    clearTimeout(waiting.timer)
    this.#waiting.delete(id)
    if (refused !== undefined) waiting.reject(new Refused(refused))
    else if (failed !== undefined || trapped !== undefined) {
      waiting.reject(failed === undefined ? new Trapped(trapped) : new OwnFailed(failed))
      this.#lost(failed ?? trapped)
    } else waiting.resolve(answer)
  }

  /** Replaces the worker; requests without an answer are rejected with the reason. */
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

  /** Sends a request to the worker. Returns a promise of its answer; `heard` is called with the share of a whole run that is done. */
  async ask(what, data = {}, heard = undefined) {
    await this.ready
    const id = this.#next++
    return new Promise((resolve, reject) => {
      const mine = what === 'own' || own.length > 0
      const patience = mine && what !== 'whole' ? OWN_MS : STUCK_MS
      const remedy = mine ? 'look for a loop without end in your control, or shorten the run' : 'shorten the run, or give fewer users'
      const stuck = () => this.#lost(`the simulator did not answer for ${patience / 1000} s and was stopped: ${remedy}`)
      const waiting = { resolve, reject, timer: setTimeout(stuck, patience) }
      waiting.alive = (part) => {
        clearTimeout(waiting.timer)
        waiting.timer = setTimeout(stuck, patience)
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
