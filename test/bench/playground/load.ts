/** How the playground comes up in a browser that has never seen it. */
import type { Browser, BrowserContext, Page } from 'playwright'

/** How fast files come; absent: as fast as loopback gives them. */
export interface Line {
  bytesPerSecond: number
  /** Milliseconds of each request. */
  latency: number
}

/** What was sent until something was seen, and when that was. */
export interface Step {
  ms: number
  requests: number
  /** With gzip, without headers. */
  bytes: number
}

export interface Load {
  firstPaintMs: number
  /** A scenario can be picked. */
  interactive: Step
  /** The first text of the scripted answer is there. */
  streaming: Step
  /** It is there as Markdown. */
  formatted: Step
  /** Requests to anybody else. */
  offOrigin: number
}

/** A page of a browser that stores nothing yet. No service worker: what it keeps is loaded after the page, and would be counted with it. */
export async function freshPage(browser: Browser): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({ serviceWorkers: 'block', viewport: { width: 1440, height: 900 } })
  return { context, page: await context.newPage() }
}

/** Opens the page and picks the first scenario as soon as there is one. */
export async function measureLoad(browser: Browser, url: string, line?: Line): Promise<Load> {
  const { context, page } = await freshPage(browser)
  const { offOrigin } = watchOrigin(page, url)
  try {
    if (line !== undefined) await slowDown(page, line)
    await page.addInitScript(watch)
    await page.goto(url)
    await page.waitForFunction(() => performance.getEntriesByName('formatted').length > 0)
    return { ...(await page.evaluate(readMarks)), offOrigin: offOrigin() }
  } finally {
    await context.close()
  }
}

/** Counts the requests of a page that go elsewhere. */
export function watchOrigin(page: Page, url: string): { offOrigin: () => number } {
  let count = 0
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== url) count += 1
  })
  return { offOrigin: () => count }
}

async function slowDown(page: Page, { bytesPerSecond, latency }: Line): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond },
  })
}

/** In the page, before its scripts: marks when what was waited for is there, and picks the first scenario. */
function watch(): void {
  const seen = new Set<string>()
  function mark(name: string): boolean {
    if (seen.has(name)) return false
    seen.add(name)
    performance.mark(name)
    return true
  }
  const look = () => {
    const button = document.querySelector<HTMLButtonElement>('.scenario-card:not(:disabled)')
    if (button !== null && mark('interactive')) queueMicrotask(() => button.click())
    const answer = document.querySelector('[data-testid=message-assistant]')
    if (answer?.querySelector('.text')?.textContent) mark('streaming')
    if (answer?.querySelector('.prose')?.textContent) mark('formatted')
  }
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true })
}

/** In the page: what `watch` has marked, and what was asked for until then. */
function readMarks(): Omit<Load, 'offOrigin'> {
  const [page, ...files] = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  const sent = [page, ...files].flatMap((entry) => {
    return entry instanceof PerformanceResourceTiming && entry.name.startsWith('http') ? [entry] : []
  })
  const step = (name: string) => {
    const ms = performance.getEntriesByName(name)[0]?.startTime ?? 0
    const until = sent.filter(({ startTime }) => startTime <= ms)
    return { ms, requests: until.length, bytes: until.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) }
  }
  const firstPaintMs = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0
  return { firstPaintMs, interactive: step('interactive'), streaming: step('streaming'), formatted: step('formatted') }
}
