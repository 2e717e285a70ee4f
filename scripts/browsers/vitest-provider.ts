import { defineBrowserProvider } from '@vitest/browser'
import type { BrowserProvider, BrowserProviderOption, TestProject } from 'vitest/node'
import type { DrivenBrowser, DrivenContext } from './driver.ts'

/** Has vitest's browser mode open its page in a browser that `start` starts. The tests click nothing: they only run there. */
export function webDriverProvider(start: () => Promise<DrivenBrowser>): BrowserProviderOption {
  return defineBrowserProvider({ name: 'webdriver', providerFactory })

  function providerFactory(project: TestProject): BrowserProvider {
    // Vitest asks for it before each file; no test here measures the page.
    project.browser?.registerCommand('__vitest_viewport', () => undefined)
    return new WebDriverProvider(start)
  }
}

class WebDriverProvider implements BrowserProvider {
  readonly name = 'webdriver'
  readonly supportsParallelism = false
  readonly #start: () => Promise<DrivenBrowser>
  #browser: Promise<DrivenBrowser> | undefined
  #context: DrivenContext | undefined

  constructor(start: () => Promise<DrivenBrowser>) {
    this.#start = start
  }

  getCommandsContext(): Record<string, unknown> {
    return {}
  }

  async openPage(_sessionId: string, url: string): Promise<void> {
    this.#browser ??= this.#start()
    const browser = await this.#browser
    if (this.#context === undefined) console.log(browser.version)
    await this.#context?.close()
    this.#context = await browser.newContext()
    const tab = await this.#context.newTab()
    await tab.goto(url)
  }

  async close(): Promise<void> {
    const browser = await this.#browser?.catch(() => undefined)
    this.#browser = undefined
    this.#context = undefined
    await browser?.close()
  }
}

declare module 'vitest/browser' {
  interface BrowserCommands {
    __vitest_viewport: () => void
  }
}
