import { type BrowserContext, type Page, expect as playwrightExpect, test as playwrightTest } from 'playwright/test'
import type { DrivenBrowser } from '../../scripts/browsers/driver.ts'
import { type BrowserName, findBrowser } from '../../scripts/browsers/find.ts'
import { expectSeen } from '../webdriver/expect.ts'
import { WebDriverLocator } from '../webdriver/locator.ts'
import { WebDriverContext, WebDriverPage } from '../webdriver/page.ts'

/** Where the tests run. Playwright drives Chromium; it has no Firefox or WebKit but its own, so WebDriver drives those people have. */
export const browserName: 'chromium' | BrowserName = nameFrom(process.env.PHI_BROWSER ?? 'chromium')

function nameFrom(name: string): 'chromium' | BrowserName {
  if (name === 'chromium' || name === 'firefox' || name === 'webkit') return name
  throw new Error(`PHI_BROWSER=${name} is no browser that the tests know: chromium, firefox, webkit.`)
}

/** Marks the stories that run in every browser; the others run in Chromium only. */
export const everywhere = { tag: '@everywhere' }

/** Marks the main stories of the page, which `npm test` runs in Chromium; `npm run test:all` runs the others too. */
export const main = { tag: '@main' }

/** Marks a main story that runs in every browser. */
export const mainEverywhere = { tag: [main.tag, everywhere.tag] }

const overWebDriver = playwrightTest.extend<{ webDriver: WebDriverContext }, { driven: DrivenBrowser }>({
  driven: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      const start = browserName === 'chromium' ? undefined : findBrowser(browserName)
      if (start === undefined) throw new Error(`There is no ${browserName} on this machine. scripts/system-packages.ts names its packages.`)
      const browser = await start()
      await use(browser)
      await browser.close()
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  webDriver: async ({ driven, baseURL }, use) => {
    const context = await driven.newContext()
    await use(new WebDriverContext(context, baseURL ?? ''))
    await context.close()
  },
  // They have what the tests use of Playwright's classes and no more: the rest of the types is not there, and fails as undefined.
  context: async ({ webDriver }, use) => use(webDriver as unknown as BrowserContext),
  page: async ({ webDriver }, use) => use((await webDriver.newPage()) as unknown as Page),
})

/** Playwright's `test`, with the page and context of the browser under test. */
export const test = browserName === 'chromium' ? playwrightTest : overWebDriver

const dispatched = (actual: unknown, message?: string) =>
  actual instanceof WebDriverLocator ? expectSeen(actual) : playwrightExpect(actual, message)

/** Playwright's `expect`; what is said of a locator over WebDriver is read over WebDriver. */
export const expect = Object.assign(dispatched, playwrightExpect) as typeof playwrightExpect

/** What must never happen in a page that `watched` begins to watch: requests to elsewhere, and errors on its console. */
export function watched(page: Page): () => Promise<string[]> {
  const driven: unknown = page
  if (driven instanceof WebDriverPage) return () => driven.trouble()
  const seen: string[] = []
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== test.info().project.use.baseURL && protocol !== 'data:') seen.push(`request to ${request.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.push(message.text())
  })
  page.on('pageerror', (error) => seen.push(error.message))
  return async () => seen
}

/** Ends the process of a page, as when it runs out of memory. */
export async function crash(page: Page): Promise<void> {
  const driven: unknown = page
  if (driven instanceof WebDriverPage) return driven.crash()
  const crashed = page.waitForEvent('crash')
  const session = await page.context().newCDPSession(page)
  session.send('Page.crash').catch(() => undefined)
  await crashed
}
