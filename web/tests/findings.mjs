/** Opens files as the page does and runs both sides in the module: a JSON list of the fingerprints that a file names and those of its runs. */

import { readFileSync } from 'node:fs'
import { Engine } from '../engine.js'
import { opened, scenario } from '../scenario.js'

const [module, ...files] = process.argv.slice(2)
const engine = new Engine(new WebAssembly.Module(readFileSync(module)))

function run(text) {
  engine.startUnwatched(text)
  return JSON.parse(engine.finish()).fingerprint
}

const answers = files.map((file) => {
  const { state, build, fingerprints } = opened(readFileSync(file, 'utf8'))
  return { build, named: fingerprints, ran: [0, 1].map((side) => run(JSON.stringify(scenario(state, side)))) }
})
console.log(JSON.stringify(answers))
