/** A user's own congestion controls: WebAssembly modules without imports. The simulator's module calls them through these functions (`crates/web/src/own.rs`). */

const decoder = new TextDecoder()
/** Size of a window structure in words of four bytes; the other argument of a call (acknowledgement or loss) is copied behind it. */
const WINDOW = 16
const MEMORY_PAGE = 65_536
const MOST_MEMORY = 64 << 20
/** Exports that a module must have, with their kinds. */
const EXPORTS = { aqmlab_control: 'function', memory: 'memory', __indirect_function_table: 'table' }

/** Why a module cannot be a congestion control; undefined if it can. Imports are refused, because they could be a clock or random numbers. */
export function unfit(module) {
  const [imported] = WebAssembly.Module.imports(module)
  if (imported) return `that module imports ${imported.module}.${imported.name}: a control is called with all that it may know, build it without imports (make wasm)`
  const kinds = Object.fromEntries(WebAssembly.Module.exports(module).map(({ name, kind }) => [name, kind]))
  const missing = Object.keys(EXPORTS).find((name) => kinds[name] !== EXPORTS[name])
  return missing && `that module exports no ${missing}, which a congestion control does: build it with make wasm`
}

/** A control: its module and instance, and a page of the instance's memory for the arguments of calls. */
class Own {
  constructor(module) {
    this.module = module
  }

  /** Discards the instance with all state; the next call makes a new one. */
  forget() {
    this.exports = undefined
  }

  begin() {
    if (this.exports) return
    const { exports } = new WebAssembly.Instance(this.module, {})
    this.room = exports.memory.grow(1) * MEMORY_PAGE
    this.exports = exports
  }

  /** The instance's memory as words; the buffer is replaced when memory grows. */
  get words() {
    const { buffer } = this.exports.memory
    if (this.seen?.buffer !== buffer) this.seen = new Int32Array(buffer)
    return this.seen
  }

  get bytes() {
    return new Uint8Array(this.exports.memory.buffer)
  }

  table() {
    const at = Number(this.exports.aqmlab_control()) >>> 0
    if (at === 0) throw new Error('its function aqmlab_control answers with no table')
    return at
  }

  /** Calls the function at index `place` of the instance's function table. */
  call(place, a, b, c) {
    const answer = this.exports.__indirect_function_table.get(place)(a, b, c)
    if (4 * this.words.length > MOST_MEMORY) throw new Error(`it takes more than ${MOST_MEMORY >> 20} MiB of memory`)
    return answer === undefined ? 1 : Number(answer) >>> 0
  }
}

export class Controls {
  #controls = []
  #why = ''
  #seen

  /** @param {() => ArrayBuffer} memory returns the memory of the simulator's module. */
  constructor(memory) {
    this.memory = memory
    /** The functions that the simulator's module imports. */
    this.imports = {
      fresh: () => this.#controls.forEach((own) => own.forget()),
      table: (which) => this.#kept(which, (own) => own.table()),
      read: (which, at, into, bytes) => this.#kept(which, (own) => this.#copy(own, at >>> 0, into, bytes)),
      why: (into, room) => new TextEncoder().encodeInto(this.#why, this.#bytes().subarray(into, into + room)).written,
      create: (which, func, values, count) => this.#kept(which, (own) => this.#create(own, func, values, count)),
      call: (which, func, state, window, at, bytes) => this.#about(this.#controls[which], func, state, window, at, bytes),
      idle: (which, func, state, window, ns) => this.#about(this.#controls[which], func, state, window, 0, 0, ns),
      gauges: (which, func, state, into, count) =>
        this.#kept(which, (own) => {
          own.call(func, state, own.room)
          return this.#copy(own, own.room, into, count * 8)
        }),
      destroy: (which, func, state) => this.#kept(which, (own) => own.call(func, state)),
    }
  }

  /** Stores a module. Returns its number. */
  add(module) {
    return this.#controls.push(new Own(module)) - 1
  }

  #bytes() {
    return new Uint8Array(this.memory())
  }

  #words() {
    const buffer = this.memory()
    if (this.#seen?.buffer !== buffer) this.#seen = new Int32Array(buffer)
    return this.#seen
  }

  /** Returns the result of `work`. After an error it returns 0, `why` gives the sentence, and the control's instance is discarded. */
  #kept(which, work) {
    const own = this.#controls[which]
    try {
      own.begin()
      return work(own)
    } catch (error) {
      return this.#failed(own, error)
    }
  }

  #failed(own, error) {
    this.#why = `has failed (${error.message})`
    own.forget()
    return 0
  }

  /** Calls a function with a window, and with a structure of `bytes` bytes at `at` or a time `ns`. Copies the structures into the control's memory, and the window back. */
  #about(own, func, state, window, at, bytes, ns) {
    try {
      own.begin()
      const [here, there, from] = [window >> 2, own.room >> 2, at >> 2]
      const before = this.#words()
      const sent = own.words
      for (let i = 0; i < WINDOW; i++) sent[there + i] = before[here + i]
      for (let i = 0; i < bytes >> 2; i++) sent[there + WINDOW + i] = before[from + i]
      own.call(func, state, own.room, ns ?? own.room + 4 * WINDOW)
      const ours = this.#words()
      const set = own.words
      for (let i = 0; i < WINDOW; i++) ours[here + i] = set[there + i]
      return 1
    } catch (error) {
      return this.#failed(own, error)
    }
  }

  #copy(own, at, into, bytes) {
    const theirs = own.bytes
    if (at + bytes > theirs.length) throw new Error('its table points out of its memory')
    this.#bytes().set(theirs.subarray(at, at + bytes), into)
    return 1
  }

  #create(own, func, values, count) {
    const error = own.room + 8 * count
    const theirs = own.bytes
    theirs.set(this.#bytes().subarray(values, values + 8 * count), own.room)
    theirs.fill(0, error, error + 400)
    const state = own.call(func, own.room, error, 400)
    if (state) return state
    const said = own.bytes.subarray(error, error + 400)
    this.#why = decoder.decode(said.subarray(0, said.indexOf(0))) || 'it gives no reason'
    return 0
  }
}
