/** The page in a real browser. PAGE: the built folder; LAB: an address of `aqmlab lab`; PYTHON: one with the native simulator; SHOTS: where pictures of it go; OWN: modules of the congestion controls calm, which is reno, and loops, which never comes back. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import puppeteer from 'puppeteer-core'
import { scenario } from '../scenario.js'

const { PAGE, LAB, PYTHON, SHOTS, OWN, CHROMIUM = '/usr/bin/chromium' } = process.env
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm', '.txt': 'text/plain' }
const AXE = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

let browser, server, address
const contexts = []

/** A static server as a documentation site has one. */
function serve(request, response) {
  const name = new URL(request.url, 'http://x').pathname.slice(1) || 'index.html'
  try {
    const content = readFileSync(join(PAGE, name))
    response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(content)
  } catch {
    response.writeHead(404).end()
  }
}

before(async () => {
  server = createServer(serve).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  address = `http://127.0.0.1:${server.address().port}/`
  browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'], headless: true })
  if (SHOTS) mkdirSync(SHOTS, { recursive: true })
})

// Pages that are still moving would take the next test's time.
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close()
})

after(async () => {
  await browser?.close()
  server?.close()
})

/** A page that moves; what it says on its console is kept in `page.errors`. */
async function open(at = address, { width = 1300, height = 900, dark = false, still = false } = {}) {
  const context = await browser.createBrowserContext()
  contexts.push(context)
  const page = await context.newPage()
  page.errors = []
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && page.errors.push(message.text()))
  page.on('pageerror', (error) => page.errors.push(error.message))
  await page.setViewport({ width, height })
  const features = { 'prefers-color-scheme': dark && 'dark', 'prefers-reduced-motion': still && 'reduce' }
  await page.emulateMediaFeatures(
    Object.entries(features)
      .filter(([, value]) => value)
      .map(([name, value]) => ({ name, value })),
  )
  await page.goto(at)
  const moves = still ? 'true' : 'window.frames_ms?.first !== undefined'
  await page.waitForFunction(`${moves} && document.getElementById("build").textContent`, { timeout: 60_000 })
  return page
}

const said = (page) => page.$eval('#say', (place) => place.textContent)
const shot = (page, name) => SHOTS && page.screenshot({ path: join(SHOTS, `${name}.png`) })

async function choose(page, preset) {
  await page.select('#preset', preset)
  await page.waitForFunction((name) => aqmlab.state().preset === name && aqmlab.sides[0].now > 0, { timeout: 30_000 }, preset)
}

/** As fast as it goes to the end of both runs. */
async function finish(page) {
  await page.$eval('#speed', (speed) => {
    speed.value = 11
    speed.dispatchEvent(new Event('input'))
  })
  if ((await page.$eval('#play', (button) => button.textContent)) === 'Play') await page.click('#play')
  await page.waitForFunction('aqmlab.sides.every((side) => side.over) && document.getElementById("print-1").textContent', { timeout: 240_000 })
  return page.evaluate(() => aqmlab.sides.map((side) => side.summary.fingerprint))
}

function native(text) {
  const program = "import json,sys;from aqmlab import _core;print(json.loads(_core.run(sys.stdin.read())['summary'])['fingerprint'])"
  return execFileSync(PYTHON, ['-c', program], { input: text, encoding: 'utf8' }).trim()
}

test('it moves, says no error, and does not jump about', async () => {
  const page = await open()
  await page.evaluate(() => {
    window.shifted = 0
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.shifted += entry.value))).observe({ type: 'layout-shift', buffered: true })
  })
  const before = await page.evaluate(() => aqmlab.clock())
  await page.waitForFunction((then) => aqmlab.clock() > then + 0.05, { timeout: 30_000 }, before)
  await shot(page, 'light')
  assert.ok((await page.evaluate(() => window.shifted)) < 0.1)
  assert.deepEqual(page.errors, [])
})

test('both sides have the fingerprints of the native simulator, and a link says so elsewhere', async () => {
  const page = await open()
  await choose(page, 'synchronisation')
  const prints = await finish(page)
  const state = await page.evaluate(() => aqmlab.state())
  assert.deepEqual(
    prints,
    [0, 1].map((side) => native(JSON.stringify(scenario(state, side)))),
  )
  await shot(page, 'finished')
  await page.click('#share')
  const link = await page.evaluate(() => location.href)
  const other = await open(link)
  await finish(other)
  await other.waitForFunction('document.getElementById("say").textContent.includes("to the last bit")', { timeout: 10_000 })
  assert.deepEqual(other.errors, [])
})

test('a dragged threshold runs again from the seed up to the moment', async () => {
  const page = await open()
  await choose(page, 'synchronisation')
  await page.waitForFunction('aqmlab.clock() > 0.4', { timeout: 30_000 })
  const moment = await page.evaluate(() => aqmlab.clock())
  const handle = await page.evaluate(() => {
    const box = document.getElementById('picture-1').getBoundingClientRect()
    const of = aqmlab.pictures[1].handles.find(({ name }) => name === 'max_th')
    return { x: box.x + of.x, y: box.y + of.box.y + 10 }
  })
  await page.mouse.move(handle.x, handle.y)
  await page.mouse.down()
  await page.mouse.move(handle.x + 60, handle.y, { steps: 4 })
  await page.mouse.up()
  await page.waitForFunction('aqmlab.state().sides[1].link[0].forward.max_th < 40', { timeout: 10_000 })
  await page.waitForFunction((then) => aqmlab.sides.every((side) => side.now >= then), { timeout: 30_000 }, moment)
  assert.ok((await page.evaluate(() => aqmlab.clock())) >= moment)
  assert.deepEqual(page.errors, [])
})

test('the engine says at the field what is wrong', async () => {
  const page = await open()
  await page.$eval('#shared-link-0-rate', (input) => {
    input.value = '3 apples'
    input.dispatchEvent(new Event('change'))
  })
  const why = await page.waitForFunction('document.getElementById("shared-link-0-rate-why").textContent', { timeout: 10_000 })
  assert.match(await why.jsonValue(), /^link\.0\.rate: .*3 apples/)
  assert.equal(await page.$eval('#shared-link-0-rate', (input) => input.getAttribute('aria-invalid')), 'true')
  await page.$eval('#shared-link-0-rate', (input) => {
    input.value = '5 Mbit/s'
    input.dispatchEvent(new Event('change'))
  })
  await page.waitForFunction('!document.getElementById("shared-link-0-rate").hasAttribute("aria-invalid")', { timeout: 10_000 })
})

test('a file of the command line is opened, and says whether its run is the same', async () => {
  const text = 'duration = "3 s"\nseed = 2\n[[link]]\nrate = "2 Mbit/s"\nforward = { aqm = "pie" }\neffects = [{ kind = "loss", share = 0.02 }]\n[[traffic]]\napp = "bulk"\nflows = 2\n'
  const state = { duration: '3 s', seed: 2, link: [{ rate: '2 Mbit/s', forward: { aqm: 'pie' }, effects: [{ kind: 'loss', share: 0.02 }] }], traffic: [{ app: 'bulk', flows: 2 }] }
  const print = native(JSON.stringify(state))
  const file = join(mkdtempSync(join(tmpdir(), 'aqmlab-')), 'pie.toml')
  writeFileSync(file, `# pie breaks "use > 0.9"\n# fingerprint ${print} of build 0123\n${text}`)
  const page = await open()
  await (await page.$('#file')).uploadFile(file)
  await page.waitForFunction('aqmlab.state().preset === undefined && aqmlab.sides[0].now > 0', { timeout: 30_000 })
  assert.deepEqual(await finish(page), [print, print])
  await page.waitForFunction('document.getElementById("say").textContent.includes("to the last bit")', { timeout: 10_000 })
})

test("a control of one's own is opened, runs, and is stopped where it does not come back", { skip: !OWN }, async () => {
  const page = await open()
  const state = { duration: '3 s', link: [{ rate: '2 Mbit/s', forward: 'codel' }], traffic: [{ app: 'bulk', flows: 2, tcp: { profile: 'linux', congestion: 'reno' } }] }
  const print = native(JSON.stringify(state))
  const [calm, loops] = OWN.split(':')
  await (await page.$('#own')).uploadFile(calm)
  await page.waitForFunction('document.getElementById("say").textContent.includes("calm is in the list")', { timeout: 30_000 })
  state.traffic[0].tcp.congestion = 'calm'
  const opens = (text) => page.evaluate((text) => (document.getElementById('given').value = text) && document.getElementById('open').click(), text)
  await opens(JSON.stringify(state))
  await page.waitForFunction('aqmlab.state().preset === undefined && aqmlab.sides[0].now > 0', { timeout: 30_000 })
  assert.deepEqual(await finish(page), [print, print])
  assert.ok(await page.$('.forms option[value="calm"]'))
  if (SHOTS) await page.screenshot({ path: join(SHOTS, 'own.png'), fullPage: true })
  await (await page.$('#own')).uploadFile(loops)
  await page.waitForFunction('document.getElementById("say").textContent.includes("loops is in the list")', { timeout: 30_000 })
  state.traffic[0].tcp.congestion = 'loops'
  await opens(JSON.stringify(state))
  await page.waitForFunction('document.getElementById("say").textContent.includes("look for a loop without end")', { timeout: 30_000 })
})

test('what a stranger sends is text and no more', async () => {
  const hostile = '<img src=x onerror=window.hurt=1>'
  const state = { shared: { name: hostile, duration: '5 s', link: [{ name: hostile, rate: '2 Mbit/s' }], traffic: [{ name: hostile, app: 'bulk', users: 2 }] }, sides: [{ link: [{ forward: hostile }] }, { link: [{ forward: 'red' }] }] }
  const fragment = Buffer.from(JSON.stringify({ build: hostile, fingerprints: [hostile, 1], state })).toString('base64url')
  const context = await browser.createBrowserContext()
  contexts.push(context)
  for (const given of [fragment, 'rubbish', 'A'.repeat(70_000), Buffer.from('{"state":{"shared":{"link":[]}}}').toString('base64url'), Buffer.from('{"__proto__":{"hurt":1}}').toString('base64url')]) {
    const page = await context.newPage()
    await page.goto(`${address}#${given}`)
    await page.waitForFunction('document.getElementById("say").textContent || document.getElementById("wrong").textContent || document.querySelector("[aria-invalid]")', { timeout: 30_000 })
    assert.equal(await page.evaluate(() => window.hurt ?? {}.hurt ?? document.querySelectorAll('img').length), 0)
    await page.close()
  }
})

test('a trapped worker is replaced with one sentence', async () => {
  const page = await open()
  await page.evaluate(() => aqmlab.fail())
  const sentence = await said(page)
  assert.match(sentence, /^the simulator failed \(on purpose, .*which is a fault of aqmlab.*build [0-9a-f]+\)/)
  await page.click('#again')
  await page.click('#play')
  await page.waitForFunction('aqmlab.clock() > 0.05', { timeout: 30_000 })
})

test('it works without a network once it was opened', async () => {
  const page = await open()
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
  })
  await page.waitForFunction(async () => (await caches.keys()).length === 1, { timeout: 10_000 })
  await page.reload()
  await page.waitForFunction('navigator.serviceWorker.controller', { timeout: 10_000 })
  await page.setOfflineMode(true)
  await page.reload()
  await page.waitForFunction('aqmlab.clock() > 0.02', { timeout: 30_000 })
})

test('it is readable on a phone and in the dark, and by a screen reader', async () => {
  for (const [name, size] of [
    ['phone', { width: 400, height: 850 }],
    ['dark', { dark: true }],
  ]) {
    const page = await open(address, size)
    await page.waitForFunction('aqmlab.clock() > 0.05', { timeout: 30_000 })
    await shot(page, name)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(wide <= 0, `${name}: ${wide} px too wide`)
    const { violations } = await page.evaluate(`${AXE}; axe.run()`)
    assert.deepEqual(
      violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]),
      [],
      name,
    )
  }
})

test('the keys play, step and begin again, and everything is reached by tabs', async () => {
  const page = await open()
  await choose(page, 'bufferbloat')
  const clock = () => page.evaluate(() => aqmlab.clock())
  const button = () => page.$eval('#play', (place) => place.textContent)
  await page.evaluate(() => document.activeElement.blur())
  if ((await button()) === 'Play') await page.keyboard.press('Space')
  assert.equal(await button(), 'Pause')
  await page.keyboard.press('Space')
  assert.equal(await button(), 'Play')
  const before = await clock()
  await page.keyboard.press('ArrowRight')
  const after = await clock()
  assert.ok(after > before, `${after} s after ${before} s`)
  await page.keyboard.press('ArrowLeft')
  await page.waitForFunction((then) => aqmlab.clock() < then, { timeout: 10_000 }, after)
  await page.keyboard.press('Home')
  await page.waitForFunction('aqmlab.clock() === 0', { timeout: 10_000 })
  const reached = new Set()
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press('Tab')
    const { id, outline } = await page.evaluate(() => ({ id: document.activeElement.id, outline: getComputedStyle(document.activeElement).outlineStyle }))
    assert.notEqual(outline, 'none', `${id} shows that it has the focus`)
    reached.add(id)
  }
  for (const id of ['preset', 'again', 'back', 'play', 'step', 'speed', 'seeds']) assert.ok(reached.has(id), id)
  await page.focus('#speed')
  const speed = await page.$eval('#pace', (place) => place.textContent)
  await page.keyboard.press('ArrowRight')
  assert.notEqual(await page.$eval('#pace', (place) => place.textContent), speed)
})

test('who wants less motion sees no packets fly, and nothing begins by itself', async () => {
  const page = await open(address, { still: true })
  assert.equal(await page.$eval('#play', (place) => place.textContent), 'Play')
  assert.equal(await page.evaluate(() => aqmlab.clock()), 0)
  await page.click('#play')
  await page.waitForFunction('aqmlab.clock() > 0.5', { timeout: 30_000 })
  assert.equal(await page.evaluate(() => aqmlab.sides.reduce((sum, side) => sum + side.events.length, 0)), 0)
  await page.waitForFunction('aqmlab.pictures[0].most[0] > 10', { timeout: 30_000 })
  await shot(page, 'still')
})

test('delays of a call have a plot, and two routers two queues', async () => {
  const page = await open()
  await choose(page, 'fq-codel')
  await finish(page)
  const captions = () => page.$$eval('#plots figcaption', (all) => all.map((place) => place.textContent))
  assert.ok((await captions()).includes('call: one-way delay of datagrams'), String(await captions()))
  const [a, b] = await page.evaluate(() => aqmlab.sides.map(({ seconds }) => Math.max(...seconds.columns['call.delay_mean_s'])))
  assert.ok(a > 0.3 && b < 0.1, `${a} s behind a FIFO, ${b} s behind FQ-CoDel`)
  await shot(page, 'call')
  await choose(page, 'two-routers')
  await page.$eval('#speed', (speed) => {
    speed.value = 5
    speed.dispatchEvent(new Event('input'))
  })
  await page.waitForFunction('aqmlab.pictures[0].size.boxes.length === 2 && aqmlab.pictures[0].waiting[1]?.size > 0', { timeout: 60_000 })
  await page.waitForFunction('[...document.querySelectorAll("#plots figcaption")].some((place) => place.textContent === "Queue second.forward")', { timeout: 20_000 })
  assert.ok(!(await captions()).includes('call: one-way delay of datagrams'))
  await shot(page, 'routers')
  assert.deepEqual(page.errors, [])
})

test('a load becomes the users that were measured for it', async () => {
  const page = await open()
  await choose(page, 'tuning-red')
  const change = (id, value) =>
    page.$eval(
      id,
      (input, text) => {
        input.value = text
        input.dispatchEvent(new Event('change'))
      },
      value,
    )
  await change('#shared-traffic-0-load', '0.98')
  await page.waitForFunction('document.getElementById("say").textContent.includes("measured: ")', { timeout: 20_000 })
  const users = Number(await page.$eval('#shared-traffic-0-users', (input) => input.value))
  assert.ok(Math.abs(users - 2_982) < 60, `${users} users`)
  await change('#shared-link-0-rate', '9 Mbit/s')
  await change('#shared-traffic-0-load', '0.98')
  await page.waitForFunction('document.getElementById("say").textContent.includes("estimate")', { timeout: 20_000 })
})

test('an hour adds little to what a side keeps', async () => {
  const page = await open()
  await choose(page, 'bufferbloat')
  const kept = await page.evaluate(async () => {
    const { Seconds } = await import('./seconds.js')
    const seconds = new Seconds()
    for (let at = 0; at < 36_000; at++) seconds.add(at, { rate: at % 2, delay: at < 100 ? null : 3 })
    const { t, width, columns } = seconds
    return { rows: t.length, width, last: t.at(-1), rate: columns.rate[5], early: columns.delay[0], delay: columns.delay.at(-1) }
  })
  assert.ok(kept.rows <= 1_800 && kept.last + kept.width === 36_000, JSON.stringify(kept))
  assert.deepEqual([kept.rate, kept.early, kept.delay], [0.5, null, 3])
})

test('ten seeds give intervals, and until then it says one seed', async () => {
  const page = await open()
  await choose(page, 'shrew')
  await finish(page)
  assert.equal(await page.$eval('#intervals', (place) => place.textContent), 'one seed')
  await page.click('#seeds')
  await page.waitForFunction('document.getElementById("intervals").textContent === "10 seeds"', { timeout: 120_000 })
  assert.match(await page.$eval('#numbers', (body) => body.textContent), /±/)
  for (const width of [360, 420]) {
    await page.setViewport({ width, height: 800 })
    const cut = await page.$eval('.numbers', (place) => place.scrollWidth - place.clientWidth)
    assert.ok(cut <= 0, `${width} px: ${cut} px of the table of numbers are cut`)
  }
})

test('scenarios, tables and pictures can be taken away', async () => {
  const page = await open()
  await page.evaluate(() => {
    window.taken = []
    window.captures = []
    const made = URL.createObjectURL
    URL.createObjectURL = (blob) => {
      if (blob.type.includes('pcap')) window.captures.push(blob)
      return made(blob)
    }
    HTMLAnchorElement.prototype.click = function () {
      window.taken.push(this.download)
    }
    // Widths of plots just after they appeared, which is when a picture may be taken.
    window.widths = []
    const appeared = ({ target }) => target.hidden || Promise.resolve().then(() => window.widths.push(target.querySelector('canvas').width))
    new MutationObserver((changes) => changes.forEach(appeared)).observe(document.getElementById('plots'), { subtree: true, attributeFilter: ['hidden'] })
  })
  await page.waitForFunction('document.querySelector("#plots figure[hidden]")', { timeout: 10_000 })
  await page.setViewport({ width: 1250, height: 900 })
  await choose(page, 'average-lags')
  await page.waitForFunction('window.widths.length', { timeout: 30_000 })
  for (const what of ['toml', 'csv', 'png', 'svg', 'pcap']) await page.click(`[data-take=${what}]`)
  await page.waitForFunction('window.taken.length === 7', { timeout: 60_000 })
  const name = (end) => ['a', 'b'].map((side) => `average-lags-${side}.${end}`)
  assert.deepEqual((await page.evaluate(() => window.taken)).sort(), ['aqmlab.csv', 'aqmlab.png', 'aqmlab.svg', ...name('pcap'), ...name('toml')].sort())
  const magic = await page.evaluate(async () => new DataView(await window.captures[0].arrayBuffer()).getUint32(0))
  assert.equal(magic, 0x4d3cb2a1)
  assert.ok((await page.evaluate(() => window.widths)).every((width) => width > 0))
  assert.deepEqual(page.errors, [])
})

test('results of the command line are shown beside it', { skip: !LAB }, async () => {
  const page = await open(LAB)
  // They are asked for when the page moves already.
  await page.waitForSelector('#results button', { timeout: 10_000 })
  await page.click('#results button')
  await page.waitForSelector('#results td[data-shade]', { timeout: 10_000 })
  await shot(page, 'results')
  assert.deepEqual(page.errors, [])
})
