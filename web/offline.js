/** Service worker that makes the page work offline: it answers requests from a cache of this build's files. */

const CACHE = 'aqmlab-BUILD'
const FILES = [
  './',
  'aqmlab.wasm',
  'calibrations.js',
  'calibrations.json',
  'engine.js',
  'form.js',
  'lab.js',
  'lab.json',
  'lesson.js',
  'main.js',
  'numbers.js',
  'own.js',
  'picture.js',
  'plots.js',
  'presets.json',
  'results.js',
  'scenario.js',
  'seconds.js',
  'seeds.js',
  'side.js',
  'smol-toml.js',
  'style.css',
  'take.js',
  'uplot.css',
  'uplot.js',
  'toml.js',
  'worker.js',
]

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  )
})

self.addEventListener('activate', (event) => {
  const forget = async () => Promise.all((await caches.keys()).filter((name) => name.startsWith('aqmlab-') && name !== CACHE).map((name) => caches.delete(name)))
  event.waitUntil(forget().then(() => self.clients.claim()))
})

self.addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET' || new URL(event.request.url).origin !== location.origin) return
  event.respondWith(caches.match(event.request, { ignoreSearch: true }).then((kept) => kept ?? fetch(event.request)))
})
