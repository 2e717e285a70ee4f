import type { Page } from 'playwright/test'
import { expect, test } from '../page/browser.ts'
import { finish } from '../page/playground-page.ts'

/** Records the texts of the first paragraph of responses, as often as they change. */
async function noteTexts(page: Page): Promise<void> {
  await page.evaluate(() => {
    const texts: string[] = []
    Object.assign(globalThis, { seenTexts: texts })
    new MutationObserver(() => {
      const text = document.querySelector('[data-testid="message-assistant"] .text p')?.textContent ?? ''
      if (text !== texts.at(-1)) texts.push(text)
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  })
}

/** Returns how many recorded texts there are, and those that end inside a word. */
async function textsSeen(page: Page): Promise<{ count: number; cut: string[] }> {
  return page.evaluate(() => {
    const texts: string[] = Reflect.get(globalThis, 'seenTexts')
    const whole = texts.at(-1) ?? ''
    return { count: texts.length, cut: texts.filter((text) => /^\w/.test(whole.slice(text.length)) && /\w$/.test(text)) }
  })
}

test('shows streamed text word by word if the settings say so, also after a reload', async ({ page }) => {
  await page.goto('/')
  await page.getByTestId('model-button').click()
  const pace = page.getByLabel('Streamed text')
  await expect(pace).toHaveValue('off')
  await pace.selectOption('word')
  await page.getByRole('button', { name: 'Apply' }).click()
  await noteTexts(page)
  await finish(page, 'Text')
  const { count, cut } = await textsSeen(page)
  expect(count).toBeGreaterThan(5)
  expect(cut).toEqual([])

  await page.goto('/')
  await page.getByTestId('model-button').click()
  await expect(pace).toHaveValue('word')
})

test('shows streamed text at once if the user prefers reduced motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto('/')
  await page.getByTestId('model-button').click()
  await page.getByLabel('Streamed text').selectOption('line')
  await page.getByRole('button', { name: 'Apply' }).click()
  await noteTexts(page)
  await finish(page, 'Text')
  const { cut } = await textsSeen(page)
  expect(cut.length).toBeGreaterThan(0)
})
