/** Worker with one engine: answers each message with {id, answer} or {id, refused | failed | trapped}; a whole run also sends {id, part}. */

import { Engine, OwnFailed, Refused } from './engine.js'

/** Wall-clock time in ms after which a step of a run ends and is answered. */
const SLICE_MS = 25
const EVENTS = 20_000

let engine

function watch({ until, packets }) {
  engine.watchPackets(packets)
  const end = performance.now() + SLICE_MS
  let now = 0
  do now = engine.step(until, EVENTS)
  while (now < until && performance.now() < end)
  const look = engine.look()
  return { now, look, packets: engine.packets(), memory: engine.memoryBytes() }
}

/** Carries out a whole run, in twenty slices, each of which reports the share that is done. */
function whole({ text, pcap }, id) {
  const chunks = []
  if (pcap) engine.startCapture(text)
  else engine.startUnwatched(text)
  const end = parseFloat(JSON.parse(engine.check(text)).duration)
  let bytes = 0
  for (let part = 1; part <= 20; part++) {
    engine.step((end * part) / 20, Infinity)
    if (pcap) chunks.push(engine.captured())
    bytes += chunks.at(-1)?.length ?? 0
    if (bytes > pcap) throw new Refused(`the capture grows beyond ${pcap >> 20} MiB: shorten the run, or write it with aqmlab run --pcap`)
    postMessage({ id, part: part / 20 })
  }
  const summary = JSON.parse(engine.finish())
  if (pcap) chunks.push(engine.captured())
  return { summary, chunks }
}

const does = {
  own: ({ module }) => engine.add(module),
  version: () => engine.version(),
  catalogue: () => engine.catalogue(),
  check: ({ text }) => engine.check(text),
  users: ({ text }) => engine.users(text),
  start: ({ text, bin }) => engine.start(text, bin),
  watch,
  finish: () => JSON.parse(engine.finish()),
  whole,
  fail: ({ why }) => engine.fail(why),
}

onmessage = ({ data }) => {
  const { id, what } = data
  try {
    if (what === 'module') engine = new Engine(data.module)
    else postMessage({ id, answer: does[what](data, id) })
  } catch (error) {
    const kind = error instanceof Refused ? 'refused' : error instanceof OwnFailed ? 'failed' : 'trapped'
    postMessage({ id, [kind]: error.message })
  }
}
