import { expect, test } from 'playwright/test'
import { finish, quickPage, tab } from '../page/playground-page.ts'

test('keeps bar colors of trace, requests and usage with forced colors', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(quickPage)
  await finish(page, 'Thinking and tools')
  const kept: Record<string, string> = { Trace: '.bar', Request: '.cover-part', Usage: '.gauge-bar > span' }
  for (const [name, bars] of Object.entries(kept)) {
    await tab(page, name)
    await expect(page.locator(bars).first()).toBeAttached()
    const colours = await page.locator(bars).evaluateAll((all) => all.map((bar) => getComputedStyle(bar).backgroundColor))
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(colours.filter((colour) => colour !== ground && colour !== 'rgba(0, 0, 0, 0)').length).toBeGreaterThan(0)
  }
})
