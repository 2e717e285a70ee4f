import { setTimeout as delay } from 'node:timers/promises'
import type { DrivenTab } from '../../scripts/browsers/driver.ts'
import { hasMissed, look, patternOf, type Seen, type Step } from './query.ts'

/** How long an action waits for its element. */
const actionTimeoutMs = 60_000

/** The code points of WebDriver for keys that write nothing. */
const keys: Record<string, string> = { Enter: '\uE007', Escape: '\uE00C', Home: '\uE011', End: '\uE010' }

export function keyOf(name: string): string {
  const key = keys[name]
  if (key === undefined) throw new Error(`The key ${name} has no code in e2e/webdriver/locator.ts: add it there.`)
  return key
}

interface TextOptions {
  exact?: boolean
}

/** Where elements are looked for: a page, or a locator within it. */
export abstract class Finder {
  protected readonly tab: DrivenTab
  protected readonly steps: readonly Step[]

  constructor(tab: DrivenTab, steps: readonly Step[]) {
    this.tab = tab
    this.steps = steps
  }

  protected next(step: Step): WebDriverLocator {
    return new WebDriverLocator(this.tab, [...this.steps, step])
  }

  locator(selector: string): WebDriverLocator {
    return this.next({ by: 'css', selector })
  }

  getByTestId(id: string): WebDriverLocator {
    return this.next({ by: 'css', selector: `[data-testid=${JSON.stringify(id)}]` })
  }

  getByText(text: string | RegExp, { exact }: TextOptions = {}): WebDriverLocator {
    return this.next({ by: 'text', text: patternOf(text, exact) })
  }

  getByRole(role: string, { name, exact }: TextOptions & { name?: string | RegExp } = {}): WebDriverLocator {
    return this.next({ by: 'role', role, ...(name !== undefined && { name: patternOf(name, exact) }) })
  }
}

/** What the tests use of Playwright's locator, over WebDriver. Nothing is looked up before it is used. */
export class WebDriverLocator extends Finder {
  filter({ hasText }: { hasText: string | RegExp }): WebDriverLocator {
    return this.next({ by: 'hasText', text: patternOf(hasText) })
  }

  nth(index: number): WebDriverLocator {
    return this.next({ by: 'nth', index })
  }

  first(): WebDriverLocator {
    return this.nth(0)
  }

  last(): WebDriverLocator {
    return this.nth(-1)
  }

  async count(): Promise<number> {
    return (await this.see()).texts.length
  }

  async all(): Promise<WebDriverLocator[]> {
    return (await this.see()).texts.map((_, index) => this.nth(index))
  }

  async see(action: Parameters<typeof look>[1] = 'see'): Promise<Seen> {
    return (await this.tab.evaluate(look.toString(), [this.steps, action])) as Seen
  }

  async allInnerTexts(): Promise<string[]> {
    return (await this.see()).innerTexts
  }

  async innerText(): Promise<string> {
    const { innerTexts } = await this.#one(() => true)
    return innerTexts[0] ?? ''
  }

  async getAttribute(name: string): Promise<string | null> {
    const { attributes } = await this.#one(() => true)
    return attributes[name] ?? null
  }

  /** Clicks in its middle, once that is where it was a moment ago and nothing lies over it; once more where it has moved away meanwhile, as below an answer that grows. */
  async click(): Promise<void> {
    for (let isHit = false; !isHit; ) {
      const { x, y } = await this.#still()
      await this.see('aim')
      await this.tab.click(x, y)
      isHit = (await this.tab.evaluate(hasMissed.toString())) !== true
    }
  }

  /** Where it stands still. */
  async #still(): Promise<NonNullable<Seen['target']>> {
    let before = ''
    const { target } = await this.#one((seen) => {
      const place = JSON.stringify(seen.target)
      const isStill = place === before
      before = place
      return seen.isEnabled && seen.target !== undefined && isStill
    }, 'scroll')
    if (target === undefined) throw new Error(`${this} was nowhere.`)
    return target
  }

  async press(key: string): Promise<void> {
    await this.#one((seen) => seen.isFocused, 'focus')
    await this.tab.type(keyOf(key))
  }

  /** Writes in place of what is there, key by key. */
  async fill(text: string): Promise<void> {
    await this.#one((seen) => seen.isEnabled && seen.isFocused, 'select')
    await this.tab.type(text)
  }

  /** Waits until exactly one element is there, and is as it should be. */
  async #one(isReady: (seen: Seen) => boolean, action?: Parameters<typeof look>[1]): Promise<Seen> {
    const until = performance.now() + actionTimeoutMs
    for (;;) {
      const seen = await this.see(action)
      if (seen.texts.length > 1) throw new Error(`${this} means ${seen.texts.length} elements.`)
      if (seen.texts.length === 1 && isReady(seen)) return seen
      if (performance.now() > until) throw new Error(`${this} was not ready within ${actionTimeoutMs / 1000} s: ${JSON.stringify(seen)}`)
      await delay(50)
    }
  }

  override toString(): string {
    return `locator ${JSON.stringify(this.steps)}`
  }
}
