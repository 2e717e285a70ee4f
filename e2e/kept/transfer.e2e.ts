import { expect, type Page, test } from 'playwright/test'
import { exported, finish, repeat, tab } from '../page/playground-page.ts'

const stored = (page: Page) => page.getByTestId('stored-session')
const answer = (page: Page) => page.getByText('The coldest entry is Tuesday with -17 °C.')

/** One conversation, as it was given in each format. */
const files: Record<string, { name: string; text: string }> = {}

test.beforeAll(async ({ browser, baseURL: origin = '' }) => {
  const page = await browser.newPage()
  await page.goto(origin)
  await finish(page, 'Thinking and tools')
  for (const format of ['phi', 'rust', 'markdown']) files[format] = await exported(page, format)
  await page.close()
})

test.beforeEach(async ({ page }) => {
  await page.goto('/')
})

async function take(page: Page, text = ''): Promise<void> {
  await page.getByLabel('File to import').setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer: Buffer.from(text) })
}

for (const format of ['phi', 'rust']) {
  test(`imports a complete conversation from its ${format} file and continues it`, async ({ page }) => {
    await take(page, files[format]?.text)
    await expect(answer(page)).toBeVisible()
    await expect(page.getByTestId('message-assistant')).toHaveCount(2)
    await expect(page.getByTestId('tool-card')).toHaveCount(2)
    for (const card of await page.getByTestId('tool-card').all()) await expect(card).toHaveAttribute('data-status', 'done')
    expect(JSON.parse((await exported(page, 'rust')).text)).toEqual(JSON.parse(files.rust?.text ?? ''))
    expect((await exported(page, 'markdown')).text).toBe(files.markdown?.text)
    await tab(page, 'Request')
    await expect(page.getByTestId('request-block')).toHaveCount(6)
    await repeat(page, 'Go on.')
    // There already: it comes as another one.
    await take(page, files[format]?.text)
    await expect(stored(page)).toHaveCount(2)
    await expect(answer(page)).toBeVisible()
    await expect(page.getByTestId('message-user')).toHaveCount(1)
  })
}

test('exports Markdown for reading only', async ({ page }) => {
  const { name = '', text = '' } = files.markdown ?? {}
  expect(name).toMatch(/\.md$/)
  expect(text).toContain('## User\n\nWhich day was the coldest, and how far did we drift?')
  expect(text).toContain('**Calls `measure_drift`**')
  for (const other of [text, '{"loops": 5}', '']) {
    await take(page, other)
    await expect(page.getByRole('alert')).toContainText('Cannot import the file')
    await expect(stored(page)).toHaveCount(0)
  }
})

test('exports HTML that works offline without scripts and imports completely', async ({ page, browser }) => {
  await take(page, files.phi?.text)
  await expect(answer(page)).toBeVisible()
  const shared = await exported(page, 'page')
  const elsewhere = await browser.newContext({ offline: true, javaScriptEnabled: false })
  const reader = await elsewhere.newPage()
  await reader.setContent(shared.text)
  await expect(answer(reader)).toBeVisible()
  await elsewhere.close()
  await page.getByLabel('File to import').setInputFiles({ name: 'x.html', mimeType: 'text/html', buffer: Buffer.from(shared.text) })
  await expect(stored(page)).toHaveCount(2)
  await expect(answer(page)).toBeVisible()
})

test('finds conversations by their text', async ({ page }) => {
  await take(page, files.phi?.text)
  await expect(answer(page)).toBeVisible()
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await repeat(page, 'Hello?')
  await expect(stored(page)).toHaveCount(2)
  await page.getByRole('searchbox', { name: 'Search conversations' }).fill('nautical miles')
  await expect(stored(page)).toHaveCount(1)
  await expect(stored(page)).toContainText('nautical miles')
})

test('steps a replay manually in both directions and resumes its speed', async ({ page }) => {
  await take(page, files.phi?.text)
  await expect(answer(page)).toBeVisible()
  await page.getByRole('button', { name: 'Replay' }).click()
  const bar = page.getByTestId('replay')
  const place = bar.getByRole('slider', { name: 'Position' })
  const length = Number(await place.getAttribute('max'))
  /** What is to be seen at a place. */
  const at = async (share: number) => {
    await place.fill(String(Math.round(length * share)))
    await expect(bar).toHaveAttribute('data-status', 'paused')
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    return (await page.locator('.message .text, [data-testid=tool-card]').allTextContents()).join('\n')
  }
  const shares = [0, 0.2, 0.4, 0.6, 0.8, 1]
  const there: string[] = []
  for (const share of shares) there.push(await at(share))
  expect(new Set(there).size).toBeGreaterThan(4)
  expect(there.some((seen) => seen.includes('running'))).toBe(true)
  await expect(answer(page)).toBeVisible()
  const back: string[] = []
  for (const share of shares.toReversed()) back.unshift(await at(share))
  expect(back).toEqual(there)

  await at(0.8)
  await bar.getByRole('button', { name: 'Previous event' }).click()
  expect(Number(await place.inputValue())).toBeLessThan(length * 0.8)
  await bar.getByRole('button', { name: '1×', exact: true }).click()
  await expect(place).toHaveValue(String(length))
  await expect(bar).toHaveAttribute('data-status', 'paused')
  await expect(answer(page)).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toHaveCount(0)
})
