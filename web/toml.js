/** Reads scenarios as TOML: what `aqmlab run` reads and this page writes, without dates. */

const ESCAPES = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', '"': '"', '\\': '\\' }
/** Deepest nesting of arrays and tables within a value. */
const DEEPEST = 32

class Reader {
  constructor(text) {
    this.text = text
    this.at = 0
  }

  /** An error with the line where it is. */
  wrong(why) {
    return new Error(`line ${this.text.slice(0, this.at).split('\n').length}: ${why}`)
  }

  /** What stands here, if it begins so. */
  take(pattern) {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (found) this.at += found[0].length
    return found
  }

  /** Skips blanks and comments, with the ends of lines where they mean nothing. */
  skip(lines) {
    this.take(lines ? /(?:[ \t\r\n]|#[^\n]*)*/y : /[ \t]*(?:#[^\n]*)?/y)
  }

  expect(sign) {
    if (!this.text.startsWith(sign, this.at)) throw this.wrong(`expected ${sign}`)
    this.at += sign.length
  }

  over() {
    return this.at >= this.text.length
  }

  /** The names of a dotted key. */
  names() {
    const names = []
    do {
      this.skip(false)
      const bare = this.take(/[A-Za-z0-9_-]+/y)
      names.push(bare ? bare[0] : this.quoted())
      this.skip(false)
    } while (this.take(/\./y))
    return names
  }

  quoted() {
    const literal = this.take(/'''\r?\n?([\s\S]*?)'''|'([^'\n]*)'/y)
    if (literal) return literal[1] ?? literal[2]
    const basic = this.take(/"""\r?\n?((?:[^"\\]|\\[\s\S]|"(?!""))*)"""|"((?:[^"\\\n]|\\.)*)"/y)
    if (!basic) throw this.wrong('expected a name or a text in quotes')
    return (basic[1] ?? basic[2]).replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\s+|.)/g, (_, sign) => {
      if (/^\s/.test(sign)) return ''
      if (sign.length > 1) return String.fromCodePoint(Number.parseInt(sign.slice(1), 16))
      if (!(sign in ESCAPES)) throw this.wrong(`no text has \\${sign}`)
      return ESCAPES[sign]
    })
  }

  value(depth = 0) {
    if (depth > DEEPEST) throw this.wrong('arrays and tables are nested too deep')
    if (this.take(/\[/y)) return this.list(depth)
    if (this.take(/\{/y)) return this.inline(depth)
    const word = this.take(/(true|false)\b/y)
    if (word) return word[1] === 'true'
    const number = this.take(/[+-]?\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?\d+)?(?![\w:.-])/y)
    if (number) return Number(number[0].replaceAll('_', ''))
    return this.quoted()
  }

  list(depth) {
    const items = []
    for (this.skip(true); !this.take(/\]/y); this.skip(true)) {
      items.push(this.value(depth + 1))
      this.skip(true)
      if (!this.take(/,/y) && this.text[this.at] !== ']') throw this.wrong('expected , or ]')
    }
    return items
  }

  inline(depth) {
    const table = {}
    for (this.skip(true); !this.take(/\}/y); this.skip(true)) {
      this.pair(table, depth + 1)
      this.skip(true)
      if (!this.take(/,/y) && this.text[this.at] !== '}') throw this.wrong('expected , or }')
    }
    return table
  }

  pair(table, depth) {
    const names = this.names()
    this.expect('=')
    this.skip(false)
    const last = names.pop()
    const place = this.below(table, names)
    if (Object.hasOwn(place, last)) throw this.wrong(`${last} stands there twice`)
    own(place, last, this.value(depth))
  }

  /** The table of these names below another; of a list, its last one. */
  below(table, names) {
    return names.reduce((place, name) => {
      if (!Object.hasOwn(place, name)) own(place, name, {})
      const found = Array.isArray(place[name]) ? place[name].at(-1) : place[name]
      if (typeof found !== 'object' || found === null) throw this.wrong(`${name} is no table`)
      return found
    }, table)
  }

  /** The table that a heading begins. */
  heading(root, sign) {
    const names = this.names()
    this.expect(sign === '[[' ? ']]' : ']')
    const last = names.pop()
    const place = this.below(root, names)
    if (sign === '[') return this.below(place, [last])
    if (!Object.hasOwn(place, last)) own(place, last, [])
    if (!Array.isArray(place[last])) throw this.wrong(`${last} is no list of tables`)
    place[last].push({})
    return place[last].at(-1)
  }
}

/** Sets a key, whatever it is called. */
const own = (table, name, value) => Object.defineProperty(table, name, { value, writable: true, enumerable: true, configurable: true })

/** What a TOML text holds; an Error with one sentence if it cannot be read. */
export function read(text) {
  const reader = new Reader(text)
  const root = {}
  let table = root
  for (reader.skip(true); !reader.over(); reader.skip(true)) {
    const sign = reader.take(/\[\[?/y)
    if (sign) table = reader.heading(root, sign[0])
    else reader.pair(table, 0)
    reader.skip(false)
    if (!reader.over() && !reader.take(/\r?\n/y)) throw reader.wrong('expected the end of the line')
  }
  return root
}
