import type { Page } from 'playwright/test'
import { expect, test } from '../page/browser.ts'
import { chooseLocalServer, pick, quickPage, status } from '../page/playground-page.ts'

/** Widths that are asked for by name: a phone, 320 CSS pixels (WCAG 1.4.10), 1440 × 900 at 200 %, and a large screen. */
const sizes = {
  '320 px': { viewport: { width: 320, height: 568 } },
  '1440 × 900 at 200 %': { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  '2560 px': { viewport: { width: 2560, height: 1440 } },
} as const

/** What sticks out of the window sideways, and cannot be scrolled to where it is. Runs in the page. */
function cutOff(): string[] {
  const width = document.documentElement.clientWidth
  const isReached = (element: Element): boolean => {
    for (let box = element.parentElement; box !== null; box = box.parentElement) {
      if (['auto', 'scroll'].includes(getComputedStyle(box).overflowX) && box.scrollWidth > box.clientWidth) return true
    }
    return false
  }
  const found = [...document.querySelectorAll('button,input,textarea,select,summary,a[href]')].filter((element) => {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest('.visually-hidden') !== null) return false
    const { left, right, width: own } = element.getBoundingClientRect()
    return own > 1 && (left < -1 || right > width + 1) && !isReached(element)
  })
  const page = document.documentElement.scrollWidth - width
  return [...found.map((element) => element.outerHTML.slice(0, 120)), ...(page > 0 ? [`the page is ${page} px too wide`] : [])]
}

/** The names of what Tab leads to, from the first on, each seen where it is. */
async function reachedByTab(page: Page): Promise<string[]> {
  // Tab begins where the focus was.
  await page.evaluate(() => {
    document.body.tabIndex = -1
    document.body.focus()
    document.body.removeAttribute('tabindex')
  })
  const names: string[] = []
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate(() => {
      const element = document.activeElement
      if (element === null || element === document.body) return undefined
      const { left, top, right, bottom } = element.getBoundingClientRect()
      const isSeen = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
      const name = element.getAttribute('aria-label') ?? (element.textContent?.trim() || element.getAttribute('title') || element.tagName)
      return `${isSeen ? '' : 'unseen: '}${name}`
    })
    if (at === undefined) return names
    names.push(at)
  }
  throw new Error(`Tab does not come to an end: ${names.join(' · ')}`)
}

for (const [name, use] of Object.entries(sizes)) {
  test.describe(`at ${name}`, () => {
    test.use(use)

    test('reaches everything by keyboard without horizontal overflow', async ({ page }) => {
      await page.goto(quickPage)
      await pick(page, 'Approval')
      await expect(page.getByRole('button', { name: 'Approve' })).toBeVisible()
      expect(await page.evaluate(cutOff)).toEqual([])
      const names = await reachedByTab(page)
      expect(names.filter((each) => each.startsWith('unseen'))).toEqual([])
      const expected = [/scripted/, /Context|%/, /Commands/, /Dark theme/, /Approve/, /Deny/, /^Message$/, /Stop/]
      expect(expected.filter((each) => !names.some((found) => each.test(found)))).toEqual([])
      await page.getByRole('button', { name: 'Deny' }).press('Enter')
      await expect(status(page)).toHaveAttribute('data-status', 'completed')
      for (const pane of ['Conversations', 'Inspector', 'Conversation']) {
        const button = page.getByRole('navigation', { name: 'Panes' }).getByRole('button', { name: pane, exact: true })
        if (!(await button.isVisible())) continue
        await button.press('Enter')
        expect([pane, ...(await page.evaluate(cutOff))]).toEqual([pane])
      }
    })

    test('fits dialogs into the window', async ({ page }) => {
      await page.goto(quickPage)
      await page.getByTestId('model-button').click()
      for (const each of ['Model', 'Agent', 'Own tools', 'View code']) {
        await page.getByRole('tab', { name: each, exact: true }).click()
        expect([each, ...(await page.evaluate(cutOff))]).toEqual([each])
        await expect(page.getByRole('button', { name: 'Apply' })).toBeInViewport()
      }
    })
  })
}

test('overflows at no width from 320 to 2560 px with a long model name', async ({ page }) => {
  const check = async () => {
    for (const width of [320, 390, 480, 481, 640, 720, 721, 860, 861, 900, 1100, 1101, 1440, 2560]) {
      await page.setViewportSize({ width, height: 900 })
      expect([width, ...(await page.evaluate(cutOff))]).toEqual([width])
    }
  }
  await page.goto(quickPage)
  await pick(page, 'Input filter')
  await expect(status(page)).toHaveAttribute('data-status', 'rejected')
  await check()
  await chooseLocalServer(page, {
    address: 'http://127.0.0.1:9/v1',
    model: 'a-model.with-a-name/that-does-not-want-to-come-to-an-end-2026-11-22-v1:0',
  })
  await check()
})
