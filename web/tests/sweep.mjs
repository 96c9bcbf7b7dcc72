/** Runs every scenario of a file (a JSON list of texts) in the module: a JSON list of [summary or null, sentence or null]. */

import { readFileSync, writeFileSync } from 'node:fs'
import { Engine, Refused } from '../engine.js'

const [module, scenarios, answers] = process.argv.slice(2)
const engine = new Engine(new WebAssembly.Module(readFileSync(module)))

function run(text) {
  try {
    engine.check(text)
    engine.startUnwatched(text)
    return [engine.finish(), null]
  } catch (error) {
    if (error instanceof Refused) return [null, error.message]
    throw error
  }
}

writeFileSync(answers, JSON.stringify(JSON.parse(readFileSync(scenarios, 'utf8')).map(run)))
