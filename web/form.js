/** Forms made from the engine's catalogue of fields, with name, unit, range, default, meaning and source. Texts are set as text nodes, never as HTML. */

import { at, meant, set } from './scenario.js'

/** An element with properties and children; strings become text nodes. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value
    else made.setAttribute(name, value)
  }
  made.append(...children)
  return made
}

const number = (value) => (Math.abs(value) >= 1e6 ? Number(value.toPrecision(6)).toExponential() : String(Number(value.toPrecision(6))))

/** Units for showing times (in seconds) and rates (in bit/s), each with its factor, largest first. */
const SHOWN = {
  time: [
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'µs'],
  ],
  rate: [
    [1e9, 'Gbit/s'],
    [1e6, 'Mbit/s'],
    [1e3, 'kbit/s'],
    [1, 'bit/s'],
  ],
}

/** A number of the catalogue with a unit as people write it: 0.005 s as "5 ms". */
export function quantity(value, unit) {
  const units = SHOWN[unit]
  if (!units || typeof value !== 'number') return value == null ? '' : typeof value === 'number' ? number(value) : String(value)
  // Hours and minutes are used for whole numbers of them only.
  const fits = ([factor]) => Math.abs(value) >= factor && (unit === 'rate' || factor <= 1 || Number.isInteger(value / factor))
  const [factor, name] = units.find(fits) ?? units.find(([of]) => of === 1)
  return `${number(value / factor)} ${name}`
}

function range({ min, max, unit, choices }) {
  if (choices || min == null) return SHOWN[unit] ? { time: 's, ms', rate: 'Mbit/s' }[unit] : unit
  const ends = [quantity(min, unit), max == null ? '∞' : quantity(max, unit)].join(' to ')
  return SHOWN[unit] ? ends : `${ends} ${unit}`.trim()
}

/** A form of fields, some of them in parts that unfold. */
export class Form {
  /** `changed(path, anew)` is called after an edit, which the engine has not checked yet; `anew` if the form must be made again. */
  constructor(place, prefix, changed) {
    this.place = place
    this.prefix = prefix
    this.changed = changed
    this.fields = new Map()
  }

  /** Empties the form; `root` is the object that it edits, and paths are relative to it. */
  clear(root) {
    this.root = root
    this.fields.clear()
    this.place.replaceChildren()
    this.parts = this.place
  }

  heading(text) {
    this.place.append(element('h3', {}, text))
  }

  /** Begins a part that unfolds, for the fields that follow. */
  part(title, open = false) {
    const body = element('div', { className: 'fields' })
    this.place.append(element('details', { open }, element('summary', {}, title), body))
    this.parts = body
  }

  /** A choice among the catalogue's entries for the table at `path`. Another choice removes the old one's parameters. */
  entry(label, path, key, entries) {
    const now = at(this.root, `${path}.${key}`)
    const options = entries.map(({ name, summary }) => element('option', { value: name, selected: name === now, title: summary ?? '' }, name))
    const select = element('select', { id: this.#id(`${path}.${key}`) }, ...options)
    select.onchange = () => this.#edit(path, { [key]: select.value }, true)
    this.#row(label, select, `${path}.${key}`)
    const chosen = entries.find(({ name }) => name === now)
    if (chosen?.summary) this.parts.append(element('p', { className: 'hint' }, `${chosen.summary} (${chosen.source}${chosen.year ? `, ${chosen.year}` : ''})`))
    return chosen
  }

  /** The input of one field of the catalogue, for the value at `path`. */
  field(field, path) {
    const now = at(this.root, path)
    const simple = now === undefined || typeof now !== 'object'
    const input = simple ? this.#input(field, now) : element('input', { value: JSON.stringify(now) })
    input.id = this.#id(path)
    input.onchange = () => this.#edit(path, field.type === 'switch' ? { true: true, false: false }[input.value] : meant(input.value))
    const source = field.source ? ` Source: ${field.source}` : ''
    const about = element('details', { className: 'about' }, element('summary', { 'aria-label': `about ${field.name}` }, '?'), element('p', {}, `${field.meaning}${source}`))
    this.#row(field.name, input, path, range(field), about)
  }

  #input(field, now) {
    const shown = now === undefined ? '' : String(now)
    const choices = field.type === 'switch' ? ['true', 'false'] : field.choices
    const standard = field.default == null || field.default === '' ? 'default' : quantity(field.default, field.unit)
    if (!choices) return element('input', { value: shown, placeholder: standard, autocomplete: 'off', spellcheck: false })
    const none = element('option', { value: '', selected: shown === '' }, standard)
    return element('select', {}, none, ...choices.map((name) => element('option', { value: name, selected: name === shown }, name)))
  }

  #row(label, input, path, hint = '', about = '') {
    const why = element('output', { className: 'why', id: `${input.id}-why` })
    input.setAttribute('aria-describedby', why.id)
    const row = element('div', { className: 'row' }, element('label', { htmlFor: input.id }, label), input, element('small', {}, hint), about, why)
    this.parts.append(row)
    this.fields.set(path, { input, why })
  }

  #id(path) {
    return `${this.prefix}-${path.replaceAll('.', '-')}`
  }

  #edit(path, value, anew = false) {
    set(this.root, path, value)
    this.changed(path, anew)
  }

  /** Shows the engine's sentence at the field that it names. Returns whether there is such a field. Without a sentence it clears all errors. */
  complain(sentence) {
    for (const { input, why } of this.fields.values()) {
      why.textContent = ''
      input.removeAttribute('aria-invalid')
    }
    if (!sentence) return true
    const named = [...this.fields.keys()].filter((path) => sentence.startsWith(path)).sort((a, b) => b.length - a.length)[0]
    if (!named) return false
    const { input, why } = this.fields.get(named)
    why.textContent = sentence
    input.setAttribute('aria-invalid', 'true')
    for (let up = input.parentElement; up && up !== this.place; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true
    return true
  }
}

const named = (entries, name) => entries.find((entry) => entry.name === name)

/** Fills the form of one side: its disciplines and end systems. */
export function sideForm(form, own, shared, catalogue) {
  form.clear(own)
  own.link.forEach((link, i) => {
    for (const direction of ['forward', 'reverse']) {
      if (link[direction] === undefined) continue
      if (typeof link[direction] === 'string') link[direction] = { aqm: link[direction] }
      const path = `link.${i}.${direction}`
      const name = own.link.length > 1 || direction === 'reverse' ? `, ${shared.link[i].name ?? 'bottleneck'} ${direction}` : ''
      form.parts = form.place
      const chosen = form.entry(`Discipline${name}`, path, 'aqm', catalogue.aqm)
      form.part('Its parameters', direction === 'forward' && i === 0)
      chosen?.fields.forEach((field) => form.field(field, `${path}.${field.name}`))
    }
  })
  own.traffic ??= []
  shared.traffic.forEach((group, j) => {
    if (!named(catalogue.traffic, group.app) || !hasTcp(group.app)) return
    own.traffic[j] ??= {}
    const of_all = typeof group.tcp === 'string' ? { profile: group.tcp } : group.tcp
    const tcp = own.traffic[j].tcp
    if (tcp === undefined || typeof tcp === 'string') own.traffic[j].tcp = tcp ? { profile: tcp } : { profile: 'plain', ...of_all }
    form.parts = form.place
    const chosen = form.entry(`End systems of ${group.name ?? group.app}`, `traffic.${j}.tcp`, 'profile', catalogue.tcp)
    form.part('Their parameters')
    chosen?.fields.forEach((field) => form.field(field, `traffic.${j}.tcp.${field.name}`))
  })
}

const hasTcp = (app) => !['voip', 'cbr', 'on-off', 'pulse', 'ping'].includes(app)

/** Fills the form of the parameters that both sides share: line, users, round-trip times, duration. */
export function sharedForm(form, shared, catalogue) {
  form.clear(shared)
  const sections = catalogue.scenario
  const some = (section, names) => sections[section].filter(({ name }) => names.includes(name))
  const all = (prefix, fields) => fields.forEach((field) => form.field(field, prefix + field.name))
  all('', some('', ['duration', 'warmup', 'seed']))
  all('network.', some('network', ['rtt', 'clients', 'servers', 'access_rate', 'delay_tick']))
  shared.link.forEach((link, i) => {
    form.heading(`Line ${link.name ?? ''}`)
    all(
      `link.${i}.`,
      some('link', ['rate', 'reverse_rate', 'delay', 'effects', 'framing', 'access']).map((field) => (field.name === 'access' ? { ...field, choices: catalogue.access.map(({ name }) => name) } : field)),
    )
  })
  shared.traffic.forEach((group, j) => {
    if (group.flows !== undefined) [group.users, group.flows] = [group.flows, undefined]
    form.parts = form.place
    const chosen = form.entry(`Traffic ${group.name ?? j + 1}`, `traffic.${j}`, 'app', catalogue.traffic)
    all(`traffic.${j}.`, some('traffic', ['users', 'load', 'rtt', 'side', 'dscp']))
    form.part('Its parameters')
    chosen?.fields.forEach((field) => form.field(field, `traffic.${j}.${field.name}`))
  })
}
