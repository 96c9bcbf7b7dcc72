/** The page in a real browser. PAGE: the built folder; LAB: an address of `aqmlab lab`; PYTHON: one with the native simulator; SHOTS: where pictures of it go. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import puppeteer from 'puppeteer-core'
import { scenario } from '../scenario.js'

const { PAGE, LAB, PYTHON, SHOTS, CHROMIUM = '/usr/bin/chromium' } = process.env
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
async function open(at = address, { width = 1300, height = 900, dark = false } = {}) {
  const context = await browser.createBrowserContext()
  contexts.push(context)
  const page = await context.newPage()
  page.errors = []
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && page.errors.push(message.text()))
  page.on('pageerror', (error) => page.errors.push(error.message))
  await page.setViewport({ width, height })
  if (dark) await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
  await page.goto(at)
  await page.waitForFunction('window.frames_ms?.first !== undefined && document.getElementById("build").textContent', { timeout: 60_000 })
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
  await page.$eval('#speed', (speed) => { speed.value = 11; speed.dispatchEvent(new Event('input')) })
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
  assert.deepEqual(prints, [0, 1].map((side) => native(JSON.stringify(scenario(state, side)))))
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
    return { x: box.x + of.x, y: box.y + aqmlab.pictures[1].size.queue.y + 10 }
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
  await page.$eval('#shared-link-0-rate', (input) => { input.value = '3 apples'; input.dispatchEvent(new Event('change')) })
  const why = await page.waitForFunction('document.getElementById("shared-link-0-rate-why").textContent', { timeout: 10_000 })
  assert.match(await why.jsonValue(), /^link\.0\.rate: .*3 apples/)
  assert.equal(await page.$eval('#shared-link-0-rate', (input) => input.getAttribute('aria-invalid')), 'true')
  await page.$eval('#shared-link-0-rate', (input) => { input.value = '5 Mbit/s'; input.dispatchEvent(new Event('change')) })
  await page.waitForFunction('!document.getElementById("shared-link-0-rate").hasAttribute("aria-invalid")', { timeout: 10_000 })
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
    assert.equal(await page.evaluate(() => window.hurt ?? ({}).hurt ?? document.querySelectorAll('img').length), 0)
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
  await page.evaluate(async () => { await navigator.serviceWorker.ready })
  await page.waitForFunction(async () => (await caches.keys()).length === 1, { timeout: 10_000 })
  await page.reload()
  await page.waitForFunction('navigator.serviceWorker.controller', { timeout: 10_000 })
  await page.setOfflineMode(true)
  await page.reload()
  await page.waitForFunction('aqmlab.clock() > 0.02', { timeout: 30_000 })
})

test('it is readable on a phone and in the dark, and by a screen reader', async () => {
  for (const [name, size] of [['phone', { width: 400, height: 850 }], ['dark', { dark: true }]]) {
    const page = await open(address, size)
    await page.waitForFunction('aqmlab.clock() > 0.05', { timeout: 30_000 })
    await shot(page, name)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(wide <= 0, `${name}: ${wide} px too wide`)
    const { violations } = await page.evaluate(`${AXE}; axe.run()`)
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]), [], name)
  }
})

test('ten seeds give intervals, and until then it says one seed', async () => {
  const page = await open()
  await choose(page, 'shrew')
  await finish(page)
  assert.equal(await page.$eval('#intervals', (place) => place.textContent), 'one seed')
  await page.click('#seeds')
  await page.waitForFunction('document.getElementById("intervals").textContent === "10 seeds"', { timeout: 120_000 })
  assert.match(await page.$eval('#numbers', (body) => body.textContent), /±/)
})

test('scenarios, tables and pictures can be taken away', async () => {
  const page = await open()
  await page.evaluate(() => {
    window.taken = []
    HTMLAnchorElement.prototype.click = function () { window.taken.push(this.download) }
  })
  for (const what of ['toml', 'csv', 'png', 'svg']) await page.click(`[data-take=${what}]`)
  await page.waitForFunction('window.taken.length === 5', { timeout: 20_000 })
  assert.deepEqual((await page.evaluate(() => window.taken)).sort(), ['aqmlab.csv', 'aqmlab.png', 'aqmlab.svg', 'bufferbloat-a.toml', 'bufferbloat-b.toml'])
})

test('results of the command line are shown beside it', { skip: !LAB }, async () => {
  const page = await open(LAB)
  await page.click('#results button')
  await page.waitForSelector('#results td[data-shade]', { timeout: 10_000 })
  await shot(page, 'results')
  assert.deepEqual(page.errors, [])
})
