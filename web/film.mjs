/** Frames of the page for the README's moving picture: node film.mjs PAGE FOLDER. Time goes on by equal steps, so that the frames do not depend on the machine's speed. */

import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import puppeteer from 'puppeteer-core'

const [page_folder, frames] = process.argv.slice(2)
const { CHROMIUM = '/usr/bin/chromium' } = process.env
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm' }
/** Story, its speed's place on the slider, and from when to when (simulated seconds) the film goes. */
const [STORY, SPEED, FROM_S, UPTO_S] = ['bufferbloat', 4, 0.3, 1.11]

const server = createServer((request, response) => {
  const name = new URL(request.url, 'http://x').pathname.slice(1) || 'index.html'
  try {
    response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'text/plain' }).end(readFileSync(join(page_folder, name)))
  } catch {
    response.writeHead(404).end()
  }
}).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
mkdirSync(frames, { recursive: true })
const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'], headless: true })
const page = await browser.newPage()
await page.setViewport({ width: 1100, height: 760 })
await page.goto(`http://127.0.0.1:${server.address().port}/`)
await page.waitForFunction('document.getElementById("build").textContent && aqmlab.sides[0].now > 0', { timeout: 60_000 })
await page.select('#preset', STORY)
await page.waitForFunction((story) => aqmlab.state().preset === story && aqmlab.sides[0].now > 0, {}, STORY)
await page.$eval(
  '#speed',
  (speed, value) => {
    speed.value = value
    speed.dispatchEvent(new Event('input'))
  },
  SPEED,
)
if ((await page.$eval('#play', (button) => button.textContent)) === 'Pause') await page.click('#play')
await page.evaluate(() => document.activeElement.blur())
await page.keyboard.press('Home')
await page.waitForFunction('aqmlab.clock() === 0')
const { x, y, width } = await (await page.$('.stage')).boundingBox()
const lead = await (await page.$('#lead canvas')).boundingBox()
const height = lead.y + lead.height - y
const settled = () => page.waitForFunction('aqmlab.sides.every((side) => side.now >= aqmlab.clock() - 1e-6)')
for (let number = 0; ; ) {
  for (let part = 0; part < 4; part++) {
    await page.keyboard.press('ArrowRight')
    await settled()
  }
  // The plots are drawn five times a second.
  await new Promise((resolve) => setTimeout(resolve, 230))
  const clock = await page.evaluate(() => aqmlab.clock())
  if (clock >= UPTO_S) break
  if (clock < FROM_S) continue
  await page.screenshot({ path: join(frames, `${String(number++).padStart(3, '0')}.png`), clip: { x, y, width, height } })
}
await browser.close()
server.close()
