/** The page: two sides with common users, a moving picture of each, plots, an explanation, and files to download. */

import { Calibrations } from './calibrations.js'
import { OwnFailed, Trapped } from './engine.js'
import { element, Form, sharedForm, sideForm } from './form.js'
import { give, Lab } from './lab.js'
import { cards, differs, lanes, legend, title } from './lesson.js'
import { commonScale, Picture } from './picture.js'
import { fill, Intervals, rows } from './numbers.js'
import { Plots } from './plots.js'
import { showResults } from './results.js'
import { at, fragment, opened, queuePath, scenario, set, thresholds } from './scenario.js'
import { replicate } from './seeds.js'
import { Side } from './side.js'
import { capture, take } from './take.js'

const $ = (id) => document.getElementById(id)
const SPEEDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, Infinity]
/** Highest speed, in simulated seconds per second, at which single packets are drawn. */
const SEEN_SPEED = 1
/** Simulated seconds by which one side may be ahead of the other at full speed. */
const AHEAD_S = 10
const STILL = matchMedia('(prefers-reduced-motion: reduce)')

const module = WebAssembly.compileStreaming(fetch('aqmlab.wasm'))
const checker = new Lab(module)
const sides = [new Side(new Lab(module)), new Side(new Lab(module))]
const pictures = []
const forms = []
let [presets, catalogue, plots, version, calibrations] = []
/** The scenario that is shown: the part `shared` by both sides, and the own part of each of the `sides`. */
let state = { shared: undefined, sides: undefined }
let sender
let clock = 0
let playing = false
let seeds
let generation = 0
/** For each queue, the number of packets that its width in the pictures stands for, on both sides. */
let scale
/** Paired differences over seeds and their intervals, for the table. */
let replicated = new Intervals()

const speed = () => SPEEDS[$('speed').value]
const text = (side) => JSON.stringify(scenario(state, side))
const say = (sentence) => ($('say').textContent = sentence)
const withPackets = () => speed() <= SEEN_SPEED && !STILL.matches

/** Starts both runs again; they catch up with the simulated time `moment`, and continue. */
async function restart(moment = 0) {
  const mine = ++generation
  seeds?.abort()
  $('intervals').textContent = 'one seed'
  clock = moment
  pictures.forEach((picture) => picture.forget())
  sides.forEach((_, s) => ($(`print-${s}`).textContent = ''))
  try {
    const whole = JSON.parse(await checker.ask('check', { text: text(0) }))
    state.duration = parseFloat(whole.duration)
    clock = Math.min(clock, state.duration)
    await Promise.all(sides.map((side, s) => side.start(text(s), state.duration)))
    complain(undefined)
  } catch (error) {
    if (mine === generation) failed(error)
    return
  }
  if (mine !== generation) return
  sides.forEach((_, s) => drive(s, mine))
}

/** Advances one side towards the clock until its run is over or was started again. */
async function drive(s, mine) {
  const side = sides[s]
  while (mine === generation && !side.over) {
    const target = goal(side)
    if (side.now >= target) {
      await new Promise((resolve) => setTimeout(resolve, 8))
      continue
    }
    const catchingUp = target - side.now > Math.max(1, 2 * speed())
    try {
      await side.advance(target, withPackets() && !catchingUp)
    } catch (error) {
      if (mine === generation) failed(error)
      return
    }
  }
  if (mine === generation) await ended()
}

/** The simulated time up to which a side may run now: a little ahead of the picture; at full speed, a little ahead of the other side. */
function goal() {
  const s = speed()
  // A picture with packets needs the near future, also while paused: it draws packets on their way to the queue.
  if (!playing && !withPackets()) return clock
  if (s === Infinity) return Math.min(state.duration, Math.min(sides[0].now, sides[1].now) + AHEAD_S)
  return Math.min(state.duration, clock + (withPackets() ? 0.7 * s : 0.1 * s))
}

/** When both runs are over: shows their fingerprints, and whether they equal those of the link's sender. */
async function ended() {
  numbers()
  if (!sides.every((side) => side.over)) return
  plots.draw(sides, state.duration)
  const prints = sides.map((side) => side.summary.fingerprint)
  sides.forEach((_, s) => ($(`print-${s}`).textContent = `fingerprint ${prints[s]}`))
  if (!sender?.fingerprints?.length) return
  const same = prints.every((print, s) => print === sender.fingerprints[s])
  const build = sender.build === version.build ? '' : ` (made by build ${sender.build}, this is ${version.build})`
  say(same ? 'The same results as the sender saw, to the last bit.' : `Other results than the sender saw${build}.`)
}

function failed(error) {
  playing = false
  $('play').textContent = 'Play'
  const build = error instanceof OwnFailed ? '' : ` (build ${version?.build ?? 'unknown'})`
  if (error instanceof Trapped) say(`${error.message}${build}. The worker was replaced.`)
  else complain(error.message)
}

/** Shows the engine's sentence at the field that it names, or else below the forms. */
function complain(sentence) {
  const found = forms.map((form) => form.complain(sentence))
  $('wrong').textContent = sentence && !found.some(Boolean) ? sentence : ''
}

/** Handles an edit in a form: the engine checks the scenario, then both sides run again up to the present time. */
async function edited(form, path, anew) {
  sender = undefined
  if (path.endsWith('.load')) await asUsers(path)
  const before = generation
  const wrong = await Promise.all(
    [0, 1].map((s) =>
      checker.ask('check', { text: text(s) }).then(
        () => undefined,
        (error) => error.message,
      ),
    ),
  )
  if (before !== generation) return
  const sentence = wrong.find(Boolean)
  if (anew) build()
  complain(sentence)
  if (sentence && form !== 'shared') forms[form + 1].complain(wrong[form])
  if (!sentence) await restart(clock)
}

/** Replaces an offered load by a number of users: from a calibration of this traffic if there is one, else from the engine's estimate. */
async function asUsers(path) {
  const users = path.replace(/load$/, 'users')
  const asked = structuredClone(state)
  set(asked.shared, users, undefined)
  const found = await checker.ask('users', { text: JSON.stringify(scenario(asked, 0)) }).catch((error) => complain(error.message))
  if (!found) return
  const known = await calibrations?.of(scenario(asked, 0), Number(path.split('.')[1])).catch(() => undefined)
  const number = known ? Math.round((found.users * found.bytes_per_user_s) / known.bytes_per_user_s) : found.users
  say(`${at(state.shared, path)} load is ${known ? `${number} users (measured: ${known.source}).` : `about ${number} users (the engine's estimate).`}`)
  set(state.shared, users, number)
  set(state.shared, path, undefined)
  build()
}

/** Fills the forms from the state. */
function build() {
  legend($('legend'), state.shared.traffic)
  headings()
  if (!catalogue) return
  sharedForm(forms[0], state.shared, catalogue)
  sides.forEach((_, s) => sideForm(forms[s + 1], state.sides[s], state.shared, catalogue))
}

/** Path of the discipline of queue number `q` of a side. */
const path = (s, q) => queuePath(state.shared.link, sides[s].queues[q])
const groups = () => state.shared.traffic.length

/** Fills the selections of disciplines above the pictures. */
function headings() {
  const queues = sides.map((_, s) => at(state.sides[s], path(s, 0)))
  queues.forEach((queue, s) => {
    const now = queue?.aqm ?? queue ?? 'droptail'
    const names = catalogue ? catalogue.aqm.map(({ name }) => name) : [now]
    $(`aqm-${s}`).replaceChildren(...names.map((name) => element('option', { value: name, selected: name === now }, title(name))))
    $(`differs-${s}`).textContent = differs(queue, queues[1 - s])
  })
}

/** Handles the choice of another discipline: it replaces the old one, with its defaults, in all queues of the side. */
function exchanged(s) {
  const before = at(state.sides[s], path(s, 0))?.aqm
  state.sides[s].link.forEach((link, i) => {
    for (const direction of ['forward', 'reverse']) if ((link[direction]?.aqm ?? link[direction]) === before) set(state.sides[s], `link.${i}.${direction}`, { aqm: $(`aqm-${s}`).value })
  })
  edited(s, path(s, 0), true)
}

let [drawn, pictured, plotted] = [performance.now(), 0, 0]
/** Longest time between two frames in ms, number of frames, and time of the first frame with data; for tests. */
const frames = (window.frames_ms = { longest: 0, count: 0, first: undefined })

function frame(now) {
  const passed = now - drawn
  frames.longest = Math.max(frames.longest, passed)
  frames.count++
  if (playing && state.duration) tick(passed / 1000)
  drawn = now
  if (state.duration) {
    if (!STILL.matches || now - pictured > 500) {
      pictured = now
      const lines = sides.map(({ queues }, s) => thresholds(state.sides[s], state.shared.link, queues))
      scale = commonScale(
        sides.map((side, s) => pictures[s].wanted(side, lines[s])),
        scale,
      )
      sides.forEach((side, s) => pictures[s].draw(side, clock, speed(), { thresholds: lines[s], packets: withPackets(), groups: groups(), scale, lanes: lanes(at(state.sides[s], path(s, 0)), scenario(state, s).traffic) }))
    }
    frames.first ??= sides.some((side) => side.events.length || side.now > 0) ? now : undefined
    if (now - plotted > 200) {
      plotted = now
      if (playing || !plots.fresh) plots.draw(sides, state.duration)
      plots.fresh = !playing
      numbers()
    }
  }
  requestAnimationFrame(frame)
}

/** Advances the clock, at most to the time that both sides have simulated. */
function tick(seconds) {
  const known = Math.min(sides[0].now, sides[1].now)
  clock = speed() === Infinity ? Math.max(clock, known) : Math.min(clock + Math.min(seconds, 0.1) * speed(), Math.max(clock, known))
  plots.fresh = false
  if (clock >= state.duration) play(false)
}

function play(on) {
  if (on && clock >= state.duration) restart(0)
  playing = on
  $('play').textContent = on ? 'Pause' : 'Play'
}

/** Updates the table of numbers and the clock. */
function numbers() {
  cards($('cards'), sides, state.shared?.traffic ?? [])
  fill($('numbers'), rows(sides, replicated, catalogue?.measures))
  $('clock').textContent = `${clock < 10 ? clock.toFixed(3) : clock.toFixed(1)} s of ${state.duration ?? '–'} s`
}

/** Runs both sides with ten seeds, for paired differences with intervals. */
async function moreSeeds() {
  seeds?.abort()
  seeds = new AbortController()
  replicated = new Intervals()
  const { signal } = seeds
  const base = Number(state.shared.seed ?? 1)
  const made = [0, 1].map((s) => (seed) => JSON.stringify({ ...scenario(state, s), seed }))
  const done = (_, pair) => {
    replicated.add(pair)
    $('intervals').textContent = `${replicated.pairs.length} seeds`
    numbers()
  }
  const wanted = Array.from({ length: 10 }, (_, i) => base + i)
  await replicate(module, made, wanted, done, signal).catch((error) => !signal.aborted && failed(error))
}

/** Shows a preset, a link or a pasted scenario: `next` is its state, `from` the fingerprints and build of its sender. */
async function show(next, from) {
  sender = from
  state = { ...structuredClone(next), preset: next.preset }
  replicated = new Intervals()
  scale = undefined
  const preset = presets.find(({ name }) => name === state.preset)
  $('preset').value = preset ? state.preset : ''
  $('short').replaceChildren(element('h2', {}, preset?.title ?? 'Your own scenario'), ...(preset ? [element('p', {}, preset.short)] : []))
  $('story').replaceChildren(...(preset ? [...preset.story.map((p) => element('p', {}, p)), element('p', { className: 'question' }, preset.question)] : []))
  if (preset?.speed !== undefined) $('speed').value = SPEEDS.indexOf(preset.speed === 'max' ? Infinity : preset.speed)
  showSpeed()
  build()
  await restart(0)
  if (!STILL.matches) play(true)
}

function showSpeed() {
  const s = speed()
  $('speed').setAttribute('aria-valuetext', s === Infinity ? 'as fast as it goes' : `${s} times real time`)
  $('pace').textContent = s === Infinity ? 'as fast as it goes' : s < 1 ? `1/${Math.round(1 / s)} of real time` : `${s} × real time`
}

async function share() {
  const { preset, shared, sides: own } = state
  const prints = sides.map((side) => side.summary?.fingerprint).filter(Boolean)
  history.replaceState(null, '', `#${fragment({ build: version.build, fingerprints: prints, state: { preset, shared, sides: own } })}`)
  const copied = await navigator.clipboard?.writeText(location.href).then(
    () => true,
    () => false,
  )
  say(`${copied ? 'Copied' : 'The address above is'} the link${prints.length === 2 ? '' : ' (without fingerprints: the runs are not over)'}.`)
}

/** Makes the download that a button names. */
function taken(what) {
  const titles = () => sides.map((_, s) => `${'AB'[s]}  ${title(at(state.sides[s], path(s, 0)))}`)
  const captured = (s, name) => capture(new Lab(module), text(s), name, (part) => say(`capturing ${'AB'[s]}: ${Math.round(part * 100)} %`)).catch(failed)
  take(what, { name: state.preset ?? 'scenario', sides, scenarios: [0, 1].map((s) => scenario(state, s)), plots, pictures, titles, captured, say })
}

/** Opens a text that the user has given: a fragment, a link or a scenario. */
async function open(given) {
  try {
    const read = opened(given)
    await show(read.state, read)
  } catch (error) {
    say(error.message)
  }
}

/** Adds a user's own congestion control, given as the bytes of its module, to the list. */
async function own(bytes) {
  say(`The congestion control ${await give(bytes, [checker, ...sides.map(({ lab }) => lab)])} is in the list of every end system.`)
  catalogue = await checker.ask('catalogue')
  if (!state.shared) return
  build()
  await restart(0)
}

function controls() {
  $('play').onclick = () => play(!playing)
  $('step').onclick = () => step(1)
  $('back').onclick = () => step(-1)
  $('again').onclick = () => restart(0)
  $('speed').oninput = paced
  $('preset').onchange = () => show({ ...presets.find(({ name }) => name === $('preset').value).state, preset: $('preset').value })
  sides.forEach((_, s) => ($(`aqm-${s}`).onchange = () => exchanged(s)))
  $('share').onclick = share
  $('seeds').onclick = moreSeeds
  $('open').onclick = () => open($('given').value)
  $('file').onchange = async () => open(await $('file').files[0].text())
  $('own').onchange = async () => own(await $('own').files[0].arrayBuffer()).catch((error) => say(error.message))
  for (const button of document.querySelectorAll('[data-take]')) button.onclick = () => taken(button.dataset.take)
  addEventListener('keydown', (event) => {
    if (event.target.closest('input, select, textarea, button, summary')) return
    const does = { ' ': () => play(!playing), ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => restart(0) }[event.key]
    if (does) {
      event.preventDefault()
      does()
    }
  })
  addEventListener('hashchange', () => location.hash.length > 1 && open(location.hash))
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plots.redraw())
}

/** Handles a change of speed. If packets are drawn from now on, sides that have run far ahead of the picture start again. */
function paced() {
  showSpeed()
  pictures.forEach((picture) => picture.forget())
  if (state.duration && withPackets() && sides.some((side) => side.now > clock + speed())) restart(clock)
}

/** Steps by a tenth of a second of wall-clock time at the chosen speed; backwards by starting the runs again. */
function step(sign) {
  play(false)
  const by = 0.1 * Math.min(speed(), state.duration / 10)
  const to = Math.min(Math.max(clock + sign * by, 0), state.duration)
  if (sign > 0) clock = to
  else restart(to)
  plots.fresh = false
}

function dragged(s, name, packets, queue) {
  const threshold = `${path(s, queue)}.${name}`
  set(state.sides[s], threshold, packets)
  build()
  edited(s, threshold)
}

async function begin() {
  forms.push(new Form($('shared'), 'shared', (path, anew) => edited('shared', path, anew)))
  sides.forEach((_, s) => {
    pictures.push(new Picture($(`picture-${s}`), (name, packets, queue) => dragged(s, name, packets, queue)))
    forms.push(new Form($(`form-${s}`), 'ab'[s], (path, anew) => edited(s, path, anew)))
  })
  plots = new Plots($('plots'), $('lead'))
  const read = async (name) => (await fetch(name)).json()
  const lab = read('lab.json')
  presets = await read('presets.json')
  $('preset').append(...presets.map(({ name, title }) => element('option', { value: name }, title)))
  controls()
  requestAnimationFrame(frame)
  for (const name of (await lab).controls ?? []) await own(await (await fetch(name)).arrayBuffer())
  if (location.hash.length > 1) await open(location.hash)
  if (!state.shared) await show({ ...presets[0].state, preset: presets[0].name })
  version = JSON.parse(JSON.stringify(await checker.ask('version')))
  catalogue = await checker.ask('catalogue')
  build()
  $('build').textContent = `aqmlab ${version.version}, build ${version.build}`
  calibrations = new Calibrations(await read('calibrations.json'), (text) => checker.ask('check', { text }))
  if ((await lab).results) showResults($('results'), (await lab).results)
  else if ('serviceWorker' in navigator && isSecureContext) navigator.serviceWorker.register('offline.js')
}

window.aqmlab = { sides, pictures, fail: () => checker.ask('fail', { why: 'on purpose' }).catch(failed), state: () => state, clock: () => clock }
begin().catch((error) => say(error.message))
