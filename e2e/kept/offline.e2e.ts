import { expect, test } from 'playwright/test'
import { main } from '../page/browser.ts'
import { finish, quickPage, tab } from '../page/playground-page.ts'

test('works offline with its conversations after the first load', main, async ({ page, context }) => {
  await page.goto(quickPage)
  await page.evaluate(() => navigator.serviceWorker.ready)
  await finish(page, 'Thinking and tools')
  await context.setOffline(true)
  await page.reload()
  await expect(page.getByText('The coldest entry is Tuesday with -17 °C.')).toBeVisible()
  await finish(page, 'Text')
  await expect(page.getByRole('cell', { name: 'Nansen' })).toBeVisible()
  for (const name of ['Request', 'Events', 'Usage']) {
    await tab(page, name)
    await expect(page.getByText('Loading…')).toHaveCount(0)
  }
  await expect(page.getByTestId('usage')).toBeVisible()
})
