/** Runs every scenario of a file (a JSON list of texts) in the module, with the user's own controls that are named last: a JSON list of [summary or null, sentence or null]. */

import { readFileSync, writeFileSync } from 'node:fs'
import { Engine, OwnFailed, Refused } from '../engine.js'

const [path, scenarios, answers, ...own] = process.argv.slice(2)
const module = new WebAssembly.Module(readFileSync(path))
const controls = own.map((file) => new WebAssembly.Module(readFileSync(file)))
let engine

function begun() {
  engine = new Engine(module)
  for (const control of controls) engine.add(control)
}

function run(text) {
  try {
    if (!engine) begun()
    engine.check(text)
    engine.startUnwatched(text)
    return [engine.finish(), null]
  } catch (error) {
    if (error instanceof OwnFailed) engine = undefined
    else if (!(error instanceof Refused)) throw error
    return [null, error.message]
  }
}

writeFileSync(answers, JSON.stringify(JSON.parse(readFileSync(scenarios, 'utf8')).map(run)))
