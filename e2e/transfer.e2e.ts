import { readFileSync } from 'node:fs'
import { expect, type Page, test } from 'playwright/test'
import { finish } from './playground-page.ts'

const stored = (page: Page) => page.getByTestId('stored-session')

async function exported(page: Page, format: string): Promise<{ name: string; path: string; text: string }> {
  const downloading = page.waitForEvent('download')
  await page.getByLabel('Export as').selectOption(format)
  const download = await downloading
  const path = await download.path()
  return { name: download.suggestedFilename(), path, text: readFileSync(path, 'utf8') }
}

test.beforeEach(async ({ page }) => {
  await page.goto('/')
  await finish(page, 'Thinking and tools')
})

for (const format of ['phi', 'rust']) {
  test(`a conversation comes back from its ${format} file, and goes on`, async ({ page }) => {
    const before = await page.getByTestId('message-assistant').allInnerTexts()
    const { path } = await exported(page, format)
    await page.getByLabel('File to import').setInputFiles(path)
    await expect(stored(page)).toHaveCount(2)
    await expect(page.getByText('The coldest entry is Tuesday with -17 °C.')).toBeVisible()
    await expect(page.getByTestId('message-assistant')).toHaveCount(before.length)
    await expect(page.getByTestId('tool-card').first()).toHaveAttribute('data-status', 'done')
    await finish(page, 'Text')
  })
}

test('as Markdown it is there to be read', async ({ page }) => {
  const { name, text } = await exported(page, 'markdown')
  expect(name).toMatch(/\.md$/)
  expect(text).toContain('## User\n\nWhich day was the coldest, and how far did we drift?')
  expect(text).toContain('**Calls `measure_drift`**')
})

test('what is no conversation is refused, and says so', async ({ page }) => {
  await page
    .getByLabel('File to import')
    .setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('{"loops": 5}') })
  await expect(page.getByRole('alert')).toContainText('The file cannot be imported')
  await expect(stored(page)).toHaveCount(1)
})

test('conversations are found by what was said in them', async ({ page }) => {
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await finish(page, 'Text')
  await expect(stored(page)).toHaveCount(2)
  await page.getByRole('searchbox', { name: 'Search conversations' }).fill('nautical miles')
  await expect(stored(page)).toHaveCount(1)
  await expect(stored(page)).toContainText('nautical miles')
})
