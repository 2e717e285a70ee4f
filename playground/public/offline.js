// Keeps the page as it was built, so that it works offline after the first load. It asks no other server, and keeps nothing that was said.
const name = 'phi-playground'

/** Every file of the build, as vite lists them, except the grammars of languages, which are kept once they are used. */
async function filesOfBuild() {
  const response = await fetch('files.json', { cache: 'no-cache' })
  const entries = Object.values(await response.json())
  const isGrammar = ({ src = '' }) => src.includes('/langs/')
  const files = entries.filter((entry) => !isGrammar(entry)).flatMap(({ file, css = [], assets = [] }) => [file, ...css, ...assets])
  return new Set(files.filter((file) => !file.endsWith('.html')).map((file) => new URL(file, location.href).href))
}

/** Keeps what is new, and forgets what no build of now has. */
async function refresh() {
  const [cache, files] = await Promise.all([caches.open(name), filesOfBuild()])
  const kept = await cache.keys()
  const known = new Set(kept.map(({ url }) => url))
  await Promise.all([cache.add('./'), ...[...files].filter((url) => !known.has(url)).map((url) => cache.add(url))])
  await Promise.all(kept.filter(({ url }) => url.includes('/assets/') && !files.has(url)).map((request) => cache.delete(request)))
}

async function answer(request) {
  const cache = await caches.open(name)
  // Names of assets change with what is in them.
  const isAsset = new URL(request.url).pathname.includes('/assets/')
  // Servers that say `Vary: Origin` give every origin the same file.
  const kept = isAsset ? await cache.match(request, { ignoreVary: true }) : undefined
  if (kept !== undefined) return kept
  try {
    const response = await fetch(request)
    if (response.ok && isAsset) await cache.put(request, response.clone())
    return response
  } catch (error) {
    const fallback = request.mode === 'navigate' ? await cache.match('./', { ignoreVary: true }) : undefined
    if (fallback === undefined) throw error
    return fallback
  }
}

addEventListener('install', (event) => {
  event.waitUntil(refresh().then(() => self.skipWaiting()))
})

addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim())
})

addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return
  // A server beside the page answers for itself.
  if (request.mode !== 'navigate' && !new URL(request.url).pathname.includes('/assets/')) return
  event.respondWith(answer(request))
  if (request.mode === 'navigate') event.waitUntil(refresh().catch(() => undefined))
})
