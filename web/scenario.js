/** The page's state, two scenarios with a shared part and a part for each side; converts it to JSON for the engine, TOML for files and fragments for links. */

import { read as readToml } from './toml.js'

/** Longest fragment or pasted text that is read, in characters. */
export const MOST_TEXT = 65_536

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value)

function merged(shared, own) {
  const out = { ...shared }
  for (const [name, value] of Object.entries(own ?? {})) {
    if (value === undefined) continue
    if (Array.isArray(value) && Array.isArray(out[name])) {
      out[name] = out[name].map((item, i) => (isObject(item) ? merged(item, value[i]) : item))
    } else out[name] = value
  }
  return out
}

/** The page's settings of `record`: only what it draws, and no logs, so that memory does not grow. */
const RECORD = { samples: false, responses: false, datagrams: false, goodput: true }

/** The scenario of side 0 or 1 as the engine reads it. */
export function scenario(state, side) {
  const { title, ...shared } = state.shared
  const out = merged(shared, state.sides[side])
  return { ...out, record: { ...RECORD, ...shared.record } }
}

/** A value of a nested object by its path, e.g. `link.0.forward.min_th`. */
export function at(object, path) {
  return path.split('.').reduce((value, name) => (value == null ? undefined : value[name]), object)
}

/** Sets a value by its path; undefined or an empty text removes it. Missing tables and lists on the path are made. */
export function set(object, path, value) {
  const names = path.split('.')
  const last = names.pop()
  let place = object
  for (const [i, name] of names.entries()) {
    const below = /^\d+$/.test(names[i + 1] ?? last) ? [] : {}
    if (typeof place[name] !== 'object' || place[name] === null) place[name] = below
    place = place[name]
  }
  if (value === undefined || value === '') delete place[last]
  else place[last] = value
}

/** The value of a typed text: a number, a list or a table (JSON) if the text is one, else the text itself (the engine parses units). */
export function meant(text) {
  const trimmed = text.trim()
  if (/^[[{]/.test(trimmed)) {
    try {
      return JSON.parse(trimmed)
    } catch {
      return trimmed
    }
  }
  return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed
}

function inline(value) {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (isObject(value)) {
    const pairs = Object.entries(value).filter(([, v]) => v !== undefined && v !== null)
    return `{ ${pairs.map(([name, v]) => `${key(name)} = ${inline(v)}`).join(', ')} }`
  }
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
}

const key = (name) => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name))

/** A scenario as TOML. */
export function toml(of) {
  const isTables = (value) => Array.isArray(value) && value.some(isObject)
  const lines = (table) =>
    Object.entries(table)
      .filter(([, v]) => v !== null && v !== undefined)
      .map(([name, v]) => `${key(name)} = ${inline(v)}`)
  const flat = Object.fromEntries(Object.entries(of).filter(([, v]) => !isTables(v) && !isObject(v)))
  const out = lines(flat)
  for (const [name, value] of Object.entries(of)) {
    if (isObject(value)) out.push('', `[${key(name)}]`, ...lines(value))
    else if (isTables(value)) for (const table of value) out.push('', `[[${key(name)}]]`, ...lines(table))
  }
  return `${out.join('\n')}\n`
}

/** A state as a fragment of a link. */
export function fragment(shareable) {
  const bytes = new TextEncoder().encode(JSON.stringify(shareable))
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Matches a line of TOML: a table header or a key with a value. Links and fragments contain no such line. */
const TOML_LINE = /^\s*(\[\[?[\w."' -]+\]|[\w."'-]+\s*=\s*[^\s=])/m

/** Reads the state from a fragment, a link, or a scenario as JSON or TOML; throws an Error with one sentence if the text is none of these. */
export function opened(text) {
  if (text.length > MOST_TEXT) throw new Error(`that text has ${text.length} characters, more than ${MOST_TEXT}`)
  const trimmed = text.trim()
  if (!trimmed.startsWith('{') && TOML_LINE.test(trimmed)) return known(ofFile(trimmed))
  const mark = trimmed.indexOf('#')
  const json = trimmed.startsWith('{') ? trimmed : decoded(mark < 0 ? trimmed : trimmed.slice(mark + 1))
  let read
  try {
    read = JSON.parse(json)
  } catch {
    throw new Error('that is neither a link of this page nor a scenario as JSON or TOML')
  }
  return known(isObject(read) && !read.state && read.link ? { state: ofScenario(read) } : read)
}

function decoded(text) {
  try {
    const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(plain, (c) => c.charCodeAt(0)))
  } catch {
    throw new Error('that is neither a link of this page nor a scenario as JSON or TOML')
  }
}

/** Reads a TOML file as `aqmlab run` does. Files of `aqmlab break` have the fingerprint of their run in a comment at the top. */
function ofFile(text) {
  const read = readToml(text)
  if (read.sweep || read.group) throw new Error('that file holds several scenarios: run it with aqmlab run')
  const found = isObject(read.scenario) ? { name: read.name, ...read.scenario } : read
  if (!Array.isArray(found.link)) throw new Error('that file holds no scenario: it has no link')
  const print = /^# fingerprint ([0-9a-f]{16})(?: of build ([0-9a-f]+))?/m.exec(text)
  return { state: ofScenario(found), fingerprints: print ? [print[1], print[1]] : [], build: print?.[2] }
}

/** A state in which both sides have the same disciplines as one scenario. */
function ofScenario(read) {
  const own = () => ({ link: read.link.map(({ forward }) => ({ forward: forward ?? 'droptail' })) })
  return { shared: read, sides: [own(), own()] }
}

/** Checks the structure of a state; the engine checks the values later. */
function known(read) {
  const state = read?.state
  const lists = [state?.shared?.link, state?.shared?.traffic, state?.sides]
  const good = isObject(state?.shared) && lists.every((list) => Array.isArray(list) && list.length > 0 && list.length <= 16 && list.every(isObject))
  if (!good || state.sides.length !== 2) throw new Error('that link does not hold two sides, links and traffic')
  const text = (value, most) => (typeof value === 'string' ? value.slice(0, most) : undefined)
  const prints = Array.isArray(read.fingerprints) ? read.fingerprints.slice(0, 2).map((print) => text(print, 16)) : []
  return { state: { preset: text(state.preset, 64), shared: state.shared, sides: state.sides }, build: text(read.build, 16), fingerprints: prints }
}

/** Path of the discipline of a queue, whose name is `link.direction`; without a queue, that of the first link's forward direction. */
export function queuePath(links, queue) {
  const [name, direction] = (queue?.name ?? '.forward').split(/\.(?=\w+$)/)
  const link = links.findIndex((of) => (of.name ?? 'bottleneck') === name)
  return `link.${Math.max(link, 0)}.${direction}`
}

/** For each queue of a side, the thresholds of its discipline that are given as numbers of packets. */
export function thresholds(own, links, queues) {
  return (queues.length ? queues : [undefined]).map((queue) => {
    const discipline = at(own, queuePath(links, queue)) ?? {}
    const named = ['min_th', 'max_th', 'limit'].filter((name) => typeof discipline[name] === 'number')
    return named.map((name) => ({ name, packets: discipline[name] }))
  })
}
