import { expect } from 'playwright/test'
import type { WebDriverLocator } from './locator.ts'
import type { Seen } from './query.ts'

const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** What the tests use of Playwright's assertions about a locator: each is asked again until it holds. */
export function expectSeen(locator: WebDriverLocator, isNot = false) {
  /** Polls one thing that can be seen, under a name that stands in the error. */
  function poll<Value>(read: (seen: Seen) => Value) {
    const polled = expect.poll(async () => read(await locator.see()), { message: String(locator) })
    return isNot ? polled.not : polled
  }
  const one = ({ texts }: Seen): string => (texts.length > 1 ? `${texts.length} elements` : tidy(texts[0] ?? ''))
  return {
    get not() {
      return expectSeen(locator, !isNot)
    },
    toBeVisible: () => poll((seen) => seen.texts.length === 1 && seen.isVisible).toBe(true),
    toBeHidden: () => poll((seen) => seen.isVisible).toBe(false),
    toBeDisabled: () => poll((seen) => seen.isEnabled).toBe(false),
    toBeFocused: () => poll((seen) => seen.isFocused).toBe(true),
    toHaveValue: (value: string) => poll((seen) => seen.value).toBe(value),
    toHaveCount: (count: number) => poll((seen) => seen.texts.length).toBe(count),
    toContainText: (text: string | RegExp) => (typeof text === 'string' ? poll(one).toContain(text) : poll(one).toMatch(text)),
    toHaveText(expected: string | RegExp | readonly RegExp[]) {
      if (typeof expected === 'string') return poll(one).toBe(expected)
      if (expected instanceof RegExp) return poll(one).toMatch(expected)
      return poll(({ texts }) => texts.map(tidy)).toEqual(expected.map((each) => expect.stringMatching(each)))
    },
    toHaveAttribute(name: string, value?: string) {
      if (value === undefined) return poll((seen) => name in seen.attributes).toBe(true)
      return poll((seen) => seen.attributes[name]).toBe(value)
    },
  }
}
