/** Reads scenarios as TOML: what `aqmlab run` reads and this page writes. */

import { parse } from 'smol-toml'

/** What a TOML text holds; an Error with one sentence if it cannot be read. */
export function read(text) {
  try {
    return parse(text)
  } catch (error) {
    const [first] = error.message.split('\n')
    const why = first.replace('Invalid TOML document: ', '')
    throw new Error(error.line ? `line ${error.line}: ${why}` : why)
  }
}
