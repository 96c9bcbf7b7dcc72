/** The simulator's module of WebAssembly behind plain functions: for workers, and for Node. */

import { Controls, unfit } from './own.js'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The engine's own sentence about what is wrong with a scenario. */
export class Refused extends Error {}

/** The module has failed and is of no more use. */
export class Trapped extends Error {}

/** A user's own congestion control has ended the run, and the module is of no more use. */
export class OwnFailed extends Trapped {}

/** Numbers that say what happened to a packet (`sim::PACKET_NUMBERS`), and their places. */
export const ROW = { numbers: 10, port: 0, at: 1, what: 2, why: 3, kind: 4, again: 5, group: 6, user: 7, bytes: 8, id: 9 }

export class Engine {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.own = new Controls(() => this.exports.memory.buffer)
    this.exports = new WebAssembly.Instance(module, { own: this.own.imports }).exports
    this.exports.begin()
  }

  /** The bytes of the last answer, copied: memory moves when it grows. */
  #answer() {
    const { memory, output, output_bytes } = this.exports
    const at = output()
    return new Uint8Array(memory.buffer, at, output_bytes()).slice()
  }

  /** Calls a function of the module; a trap carries the sentence that was left behind. */
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

  /** A text in (unless undefined), a text out, or the sentence that is wrong. */
  #ask(name, text, ...numbers) {
    if (text !== undefined) this.#put(text)
    const good = this.#call(name, ...numbers)
    const answer = decoder.decode(this.#answer())
    if (!good) throw new Refused(answer)
    return answer
  }

  /** Adds a user's own congestion control, a compiled module; its name. */
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
  /** Users that make the load of the group given by one, or null. */
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
  /** Moves to `until` seconds or for about so many events; how far it came. */
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
  /** The summary, as the text that was written. */
  finish() {
    return this.#ask('finish')
  }
  /** Fails on purpose, for tests of what is seen then. */
  fail(why) {
    this.#put(why)
    this.#call('fail')
  }
  memoryBytes() {
    return this.exports.memory.buffer.byteLength
  }
}
