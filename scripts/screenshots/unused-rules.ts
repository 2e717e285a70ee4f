import type { Page } from 'playwright'

/** What holds for a moment only, or has no element: a rule counts as used where the rest of its selector is found. */
const passing = /::[\w-]+|:(?:hover|focus(?:-visible|-within)?|enabled|disabled|checked|modal)\b/g
/** Where such a thing stands by itself, it is about any element. */
const alone = /(^|[\s,>+~(])(?=:[:a-z])/g

/** The selectors of the styles of a page, and whether any of the views had something that they are about. */
export class UnusedRules {
  readonly #isUsed = new Map<string, boolean>()

  /** Looks at the page as it is now. */
  async look(page: Page): Promise<void> {
    const selectors = await page.evaluate(selectorsOfPage)
    const open = selectors.filter((selector) => this.#isUsed.get(selector) !== true)
    const bare = open.map((selector) => selector.replace(alone, '$1*').replace(passing, ''))
    const found = await page.evaluate((all) => all.map((one) => document.querySelector(one) !== null), bare)
    for (const [at, selector] of open.entries()) this.#isUsed.set(selector, found[at] ?? false)
  }

  /** Selectors that were about nothing in any view. */
  get selectors(): string[] {
    return [...this.#isUsed].flatMap(([selector, isUsed]) => (isUsed ? [] : [selector]))
  }
}

/** Runs in the page. */
function selectorsOfPage(): string[] {
  const within = (rules: CSSRuleList): string[] =>
    [...rules].flatMap((rule) => {
      if (rule instanceof CSSStyleRule) return rule.selectorText
      return rule instanceof CSSGroupingRule ? within(rule.cssRules) : []
    })
  return [...document.styleSheets].flatMap((sheet) => {
    try {
      return within(sheet.cssRules)
    } catch {
      // It could not be loaded.
      return []
    }
  })
}
