/** Reads scenarios in TOML, as `aqmlab run` does and as this page writes them. */

import { parse } from 'smol-toml'

/** Parses a TOML text; throws an Error with one sentence if it is malformed. */
export function read(text) {
  try {
    return parse(text)
  } catch (error) {
    const [first] = error.message.split('\n')
    const why = first.replace('Invalid TOML document: ', '')
    throw new Error(error.line ? `line ${error.line}: ${why}` : why)
  }
}
