import { violations } from '../accessible/axe.ts'
import { everywhere, expect, test } from '../page/browser.ts'
import { exported, finish, quickPage, repeat } from '../page/playground-page.ts'

test('marks a response across a reload until the mark is removed', everywhere, async ({ page }) => {
  await page.goto(quickPage)
  await finish(page, 'Text')
  const good = page.getByRole('button', { name: 'Good answer' })
  const bad = page.getByRole('button', { name: 'Bad answer' })
  await expect(good).toHaveAttribute('aria-pressed', 'false')
  await bad.click()
  await expect(bad).toHaveAttribute('aria-pressed', 'true')
  await good.click()
  await expect(good).toHaveAttribute('aria-pressed', 'true')
  await expect(bad).toHaveAttribute('aria-pressed', 'false')

  await page.reload()
  await expect(good).toHaveAttribute('aria-pressed', 'true')
  await good.click()
  await expect(good).toHaveAttribute('aria-pressed', 'false')
  await page.reload()
  await expect(good).toHaveAttribute('aria-pressed', 'false')
})

test('exports and imports a mark and labels its buttons', async ({ page }) => {
  await page.goto(quickPage)
  await finish(page, 'Text')
  await page.getByRole('button', { name: 'Bad answer' }).click()
  await expect(page.getByRole('button', { name: 'Bad answer' })).toHaveAttribute('aria-pressed', 'true')
  await repeat(page, 'Go on.')
  expect(await violations(page)).toEqual([])
  expect((await exported(page, 'markdown')).text.match(/\(marked as bad\)/g)).toHaveLength(1)
  const { text } = await exported(page, 'phi')
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await expect(page.getByTestId('message-assistant')).toHaveCount(0)
  await page.getByLabel('File to import').setInputFiles({ name: 'x.jsonl', mimeType: 'application/x-ndjson', buffer: Buffer.from(text) })
  await expect(page.getByRole('button', { name: 'Bad answer' }).first()).toHaveAttribute('aria-pressed', 'true')
})
