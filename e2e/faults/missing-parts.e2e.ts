import { expect, type Page, test } from 'playwright/test'
import { main } from '../page/browser.ts'
import { composer, exported, quickPage, repeat } from '../page/playground-page.ts'

const words = 'These words must not be lost.'

/** As when the network is gone, or the page was built anew and its parts have other names. */
async function withoutParts(page: Page): Promise<() => Promise<void>> {
  await page.route('**/assets/**', (route) => route.abort('failed'))
  return () => page.unroute('**/assets/**')
}

// A service worker keeps all parts, and answers for the network.
test.use({ serviceWorkers: 'block' })

test('reports a part that cannot load and keeps the draft', main, async ({ page }) => {
  await page.goto(quickPage)
  await repeat(page, 'Before.')
  await composer(page).fill(words)
  const mend = await withoutParts(page)
  await page.getByLabel('Export as').selectOption('markdown')
  const notice = page.getByTestId('notice')
  await expect(notice).toContainText('Not exported: a part of the page could not be loaded.')
  await expect(notice).not.toContainText('assets')
  await mend()
  await notice.getByRole('button', { name: 'Reload the page' }).click()
  await expect(composer(page)).toHaveValue(words)
  expect((await exported(page, 'markdown')).text).toContain('Before.')
})

test('returns the prompt if a lazy SDK part is missing and sends it after reload', async ({ page }) => {
  await page.goto(quickPage)
  await composer(page).fill(words)
  const mend = await withoutParts(page)
  await composer(page).press('Enter')
  await expect(page.getByTestId('notice').or(page.getByTestId('ending')).first()).toContainText('Cannot load a part of this program')
  await expect(composer(page)).toHaveValue(words)
  await mend()
  await page.getByRole('button', { name: 'Reload the page' }).first().click()
  await expect(composer(page)).toHaveValue(words)
  await composer(page).press('Enter')
  await expect(page.getByText(`You wrote: “${words}”`)).toBeVisible()
})
