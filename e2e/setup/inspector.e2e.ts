import type { Page } from 'playwright/test'
import { everywhere, expect, mainEverywhere, test, watched } from '../page/browser.ts'
import { finish, pick, quickPage, repeat, status, tab } from '../page/playground-page.ts'

let trouble: () => Promise<string[]>

test.beforeEach(async ({ page }) => {
  trouble = watched(page)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(quickPage)
})

test.afterEach(async () => expect(await trouble()).toEqual([]))

const spans = (page: Page, kind: string) => page.locator(`[data-testid=span][data-kind=${kind}]`)
const blocks = (page: Page) => page.getByTestId('request-block')

test('nests turns, models, tools and sub-agents in the trace and selects for all panes', everywhere, async ({ page }) => {
  await finish(page, 'Sub-agent')
  await expect(spans(page, 'loop')).toHaveCount(2)
  await expect(spans(page, 'turn')).toHaveCount(4)
  await expect(spans(page, 'tool').first()).toContainText('naturalist')
  await expect(spans(page, 'tool').last()).toContainText('search')
  await spans(page, 'tool').first().locator('.span-label').click()
  await expect(page.locator('.message[data-selected=true]')).toContainText('The naturalist will count them.')
  expect(await page.evaluate(() => location.hash)).toMatch(/loop=.*&turn=0&call=/)
  const card = page.getByTestId('tool-card').first()
  await card.locator('summary').first().click()
  await expect(card.getByTestId('child-run')).toContainText('I search the logbook.')
})

test('links to the current selection and tab', everywhere, async ({ page }) => {
  await finish(page, 'Thinking and tools')
  await spans(page, 'turn').first().locator('.span-label').click()
  await tab(page, 'Request')
  await expect(page.getByTestId('request')).toContainText('Turn 0')
  await page.reload()
  await expect(page.getByTestId('request')).toContainText('Turn 0')
  await expect(page.locator('.message[data-selected=true]')).toContainText('I will look into the logbook')
})

test('shows requests with their origins, events and usage of a run', mainEverywhere, async ({ page }) => {
  await finish(page, 'Thinking and tools')
  await tab(page, 'Request')
  await expect(blocks(page)).toHaveCount(6)
  await expect(blocks(page).nth(0)).toContainText('tools')
  await expect(blocks(page).nth(1)).toContainText('system prompt')
  await expect(blocks(page).nth(2)).toContainText('question')
  await expect(blocks(page).nth(5)).toContainText('tool result')
  await expect(blocks(page).nth(2)).toHaveAttribute('data-cached', 'true')
  await expect(blocks(page).nth(5)).toHaveAttribute('data-cached', 'false')
  await expect(page.getByTestId('prefix')).toHaveAttribute('data-status', 'whole')
  await page.getByRole('button', { name: 'Previous request' }).click()
  await expect(blocks(page)).toHaveCount(3)
  await page.getByRole('button', { name: 'Body' }).click()
  await expect(page.getByTestId('request-body')).toContainText('"systemPrompt": "You keep the logbook of a polar expedition."')

  await tab(page, 'Events')
  await expect(page.getByTestId('event').first()).toHaveAttribute('data-type', 'agentStart')
  await page.getByRole('searchbox', { name: 'Filter events' }).fill('toolExecutionEnd')
  await expect(page.getByTestId('event')).toHaveCount(2)
  await page.getByTestId('event').first().click()
  await expect(page.getByTestId('event-json')).toContainText('"type": "toolExecutionEnd"')

  await tab(page, 'Usage')
  await expect(page.getByTestId('usage')).toContainText('compacted from 8.5k')
  await expect(page.getByTestId('usage').locator('.turn-usage tbody tr')).toHaveCount(2)
})

for (const [name, shown] of [
  ['Trace', '[data-testid=span][data-kind=turn]'],
  ['Request', '[data-testid=request-block]'],
  ['Events', '[data-testid=event]'],
  ['Usage', '[data-testid=usage] .turn-usage tbody tr'],
] as const) {
  test(`follows the first run in a previously opened ${name} tab`, async ({ page }) => {
    await tab(page, name)
    await expect(page.locator(shown)).toHaveCount(0)
    await repeat(page, 'Hello?')
    await expect(page.locator(shown)).not.toHaveCount(0)
    await expect(page.locator('#inspector-panel')).not.toContainText('No request was sent yet.')
  })
}

test('names the first block that broke the prefix', async ({ page }) => {
  await finish(page, 'Pruning')
  await tab(page, 'Request')
  await expect(page.getByTestId('prefix')).toHaveAttribute('data-status', 'broken')
  await expect(page.getByTestId('prefix')).toContainText('Prefix broken by message 1')
  await expect(page.locator('[data-break=true]')).toHaveCount(1)
})

test('copies the request as JSON and as cURL without a key', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await repeat(page, 'Hello?')
  await tab(page, 'Request')
  await page.getByRole('button', { name: 'Copy as JSON' }).click()
  const body = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))
  expect(body.messages).toHaveLength(1)
  await page.getByRole('button', { name: 'Copy as cURL, without the key' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('The model is scripted')
})

test('renders few rows for five hundred turns with the newest visible', async ({ page }) => {
  test.slow()
  await pick(page, '500 turns')
  await expect(status(page)).toHaveAttribute('data-status', 'completed', { timeout: 0 })
  await expect(page.getByText('Those were 500 positions.')).toBeInViewport()
  await tab(page, 'Events')
  expect(await page.getByTestId('event').count()).toBeLessThan(80)
  expect(await page.locator('.message').count()).toBeLessThan(260)
  await expect(page.getByTestId('event-count')).toContainText('of 5,')
})
