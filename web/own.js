/** A user's own congestion controls: modules of WebAssembly without imports, which the simulator's module calls through these functions (`crates/web/src/own.rs`). */

const decoder = new TextDecoder()
/** Words (of four bytes, to which all of it is aligned) of a window; after it stands what a call is about. */
const WINDOW = 16
const MEMORY_PAGE = 65_536
const MOST_MEMORY = 64 << 20
/** What a module exports, and of which kind. */
const EXPORTS = { aqmlab_control: 'function', memory: 'memory', __indirect_function_table: 'table' }

/** Why a module is no congestion control; undefined if it may be one. An import could be a clock or a random number, so there is none. */
export function unfit(module) {
  const [imported] = WebAssembly.Module.imports(module)
  if (imported) return `that module imports ${imported.module}.${imported.name}: a control is called with all that it may know, build it without imports (make wasm)`
  const kinds = Object.fromEntries(WebAssembly.Module.exports(module).map(({ name, kind }) => [name, kind]))
  const missing = Object.keys(EXPORTS).find((name) => kinds[name] !== EXPORTS[name])
  return missing && `that module exports no ${missing}, which a congestion control does: build it with make wasm`
}

/** A control: its instance, and a page of its memory for what passes. */
class Own {
  constructor(module) {
    this.module = module
  }

  /** Forgets everything: the next call makes another instance. */
  forget() {
    this.exports = undefined
  }

  begin() {
    if (this.exports) return
    const { exports } = new WebAssembly.Instance(this.module, {})
    this.room = exports.memory.grow(1) * MEMORY_PAGE
    this.exports = exports
  }

  /** Its memory as it is now, in words; it moves when it grows. */
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

  /** Calls a function of its list. */
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

  /** @param {() => ArrayBuffer} memory that of the simulator's module. */
  constructor(memory) {
    this.memory = memory
    /** What the simulator's module imports. */
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

  /** Keeps a module, and answers with its number. */
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

  /** The answer of `work`; 0 if it failed, and then `why` has the sentence. A control that failed begins anew. */
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

  /** Calls a function about a window, and about what stands in `bytes` bytes at `at`, or a time. */
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
