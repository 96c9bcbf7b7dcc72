/** Plain functions that call the simulator's WebAssembly module, for workers and for Node. */

import { Controls, unfit } from './own.js'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The engine has refused a scenario; the message is its sentence on what is wrong. */
export class Refused extends Error {}

/** The module has trapped and cannot be used any more. */
export class Trapped extends Error {}

/** A user's own congestion control has failed, and the module cannot be used any more. */
export class OwnFailed extends Trapped {}

/** Layout of a packet event (`sim::PACKET_NUMBERS`): how many numbers it has, and the index of each. */
export const ROW = { numbers: 10, port: 0, at: 1, what: 2, why: 3, kind: 4, again: 5, group: 6, user: 7, bytes: 8, id: 9 }

export class Engine {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.own = new Controls(() => this.exports.memory.buffer)
    this.exports = new WebAssembly.Instance(module, { own: this.own.imports }).exports
    this.exports.begin()
  }

  /** A copy of the bytes of the last answer; the module's memory buffer is replaced when it grows. */
  #answer() {
    const { memory, output, output_bytes } = this.exports
    const at = output()
    return new Uint8Array(memory.buffer, at, output_bytes()).slice()
  }

  /** Calls a function of the module; turns a trap into an error with the sentence that the module has left in its output. */
  #call(name, ...numbers) {
    try {
      return this.exports[name](...numbers)
    } catch (trap) {
      const said = decoder.decode(this.#answer()) || String(trap)
      if (this.exports.own_failed()) throw new OwnFailed(said)
      throw new Trapped(`the simulator failed (${said}), which is a fault of aqmlab and not of the scenario: please report it with the scenario and this line`)
    }
  }

  #put(text) {
    const bytes = encoder.encode(text)
    const at = this.#call('input', bytes.length)
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes)
  }

  /** Calls a function with a text (unless undefined), and returns the answer as a text; throws Refused with the engine's sentence. */
  #ask(name, text, ...numbers) {
    if (text !== undefined) this.#put(text)
    const good = this.#call(name, ...numbers)
    const answer = decoder.decode(this.#answer())
    if (!good) throw new Refused(answer)
    return answer
  }

  /** Adds a user's own congestion control, a compiled module. Returns its name. */
  add(module) {
    const why = unfit(module)
    if (why) throw new Refused(why)
    return this.#ask('add', undefined, this.own.add(module))
  }
  version() {
    return JSON.parse(this.#ask('version'))
  }
  catalogue() {
    return JSON.parse(this.#ask('catalogue'))
  }
  /** The scenario with every default filled in. */
  check(text) {
    return this.#ask('check', text)
  }
  /** Number of users for the offered load of a group, and bytes/s for each; null if no group has a load. */
  users(text) {
    return JSON.parse(this.#ask('users', text))
  }
  start(text, binSeconds) {
    this.#ask('start', text, binSeconds)
  }
  startUnwatched(text) {
    this.#ask('start_unwatched', text)
  }
  startCapture(text) {
    this.#ask('start_capture', text)
  }
  /** Advances the run to `until` seconds, or by about `events` events. Returns the time it has reached, in seconds. */
  step(until, events) {
    return this.#call('step', until, events)
  }
  look() {
    return JSON.parse(this.#ask('look'))
  }
  watchPackets(on) {
    this.#call('watch_packets', on ? 1 : 0)
  }
  packets() {
    this.#call('packets')
    return new Float64Array(this.#answer().buffer)
  }
  captured() {
    this.#call('captured')
    return this.#answer()
  }
  /** Runs to the end and returns the summary as JSON text. */
  finish() {
    return this.#ask('finish')
  }
  /** Makes the module trap, for tests of what a user sees then. */
  fail(why) {
    this.#put(why)
    this.#call('fail')
  }
  memoryBytes() {
    return this.exports.memory.buffer.byteLength
  }
}
