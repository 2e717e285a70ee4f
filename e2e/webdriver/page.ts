import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DrivenContext, DrivenTab } from '../../scripts/browsers/driver.ts'
import { Finder, keyOf } from './locator.ts'

/** Keeps what the console and uncaught errors say, from the moment the page is loaded. Runs in the page. */
function record(): void {
  const logged: string[] = []
  Object.assign(globalThis, { __logged: logged })
  for (const level of ['error', 'warn'] as const) console[level] = (...values: unknown[]) => void logged.push(values.join(' '))
  addEventListener('error', ({ message }) => {
    // Sizes that changed meanwhile are told with the next frame: no script has failed, and Playwright says nothing of it either.
    if (!message.startsWith('ResizeObserver loop')) logged.push(message)
  })
  addEventListener('unhandledrejection', ({ reason }) => logged.push(String(reason)))
}

/** What was recorded, and what was loaded from elsewhere. Runs in the page. */
function troubleSeen(): string[] {
  const urls = performance.getEntriesByType('resource').map(({ name }) => name)
  const elsewhere = urls.filter((url) => ![location.origin, 'null'].includes(new URL(url).origin))
  const logged: string[] = Reflect.get(globalThis, '__logged') ?? ['nothing was recorded']
  return [...elsewhere.map((url) => `request to ${url}`), ...logged]
}

/** What the tests use of Playwright's page, over WebDriver. */
export class WebDriverPage extends Finder {
  readonly #baseUrl: string
  readonly keyboard = { press: (key: string) => this.tab.type(keyOf(key)) }

  constructor(tab: DrivenTab, baseUrl: string) {
    super(tab, [])
    this.#baseUrl = baseUrl
  }

  async goto(address: string): Promise<void> {
    await this.tab.goto(new URL(address, this.#baseUrl).href)
    await this.evaluate(record)
  }

  async reload(): Promise<void> {
    await this.tab.reload()
    await this.evaluate(record)
  }

  goBack(): Promise<void> {
    return this.tab.goBack()
  }

  evaluate(inPage: () => unknown): Promise<unknown> {
    return this.tab.evaluate(inPage.toString())
  }

  setViewportSize({ width, height }: { width: number; height: number }): Promise<void> {
    return this.tab.setViewportSize(width, height)
  }

  async screenshot({ path }: { path: string }): Promise<void> {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, await this.tab.screenshot())
  }

  async crash(): Promise<void> {
    if (this.tab.crash === undefined) throw new Error('The driver of this browser does not outlive a page that crashes.')
    await this.tab.crash()
  }

  async trouble(): Promise<string[]> {
    return (await this.evaluate(troubleSeen)) as string[]
  }
}

/** What the tests use of Playwright's browser context: tabs that share what they store. */
export class WebDriverContext {
  readonly #context: DrivenContext
  readonly #baseUrl: string

  constructor(context: DrivenContext, baseUrl: string) {
    this.#context = context
    this.#baseUrl = baseUrl
  }

  async newPage(): Promise<WebDriverPage> {
    const page = new WebDriverPage(await this.#context.newTab(), this.#baseUrl)
    await page.setViewportSize({ width: 1280, height: 720 })
    return page
  }
}
