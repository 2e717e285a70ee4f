import type { Page } from 'playwright/test'
import { noteStates, statesSeen } from '../accessible/passing-states.ts'
import { everywhere, expect, main, mainEverywhere, test, watched } from '../page/browser.ts'

let trouble: () => Promise<string[]>

test.beforeEach(async ({ page }) => {
  trouble = watched(page)
  await page.goto('/')
})

test.afterEach(async () => expect(await trouble()).toEqual([]))

const status = (page: Page) => page.getByTestId('run-status')
const pick = (page: Page, scenario: string) => page.getByRole('button', { name: scenario, exact: true }).click()

test('labels the model as scripted and has screen reader landmarks', main, async ({ page }) => {
  await expect(page.getByText('scripted', { exact: true }).first()).toBeVisible()
  await expect(page.locator('body')).toMatchAriaSnapshot(`
    - banner:
      - heading "phi playground" [level=1]
    - main:
      - log "Conversation"
      - textbox "Message"
    - complementary "Inspector":
      - tablist "Inspector"
      - tabpanel "Trace"
  `)
})

test('plays a scenario picked before the agent is loaded', main, async ({ page }) => {
  let picked = (): void => undefined
  const isPicked = new Promise<void>((resolve) => {
    picked = resolve
  })
  await page.route('**/assets/agent-*', async (route) => {
    await isPicked
    await route.continue()
  })
  await page.goto('/?pace=0', { waitUntil: 'commit' })
  await pick(page, 'Text')
  picked()
  await expect(page.getByText('She stands in Oslo today')).toBeVisible()
  await expect(page.getByTestId('message-user')).toHaveCount(1)
})

test('streams a response into the page', mainEverywhere, async ({ page }) => {
  await noteStates(page)
  await pick(page, 'Text')
  const answer = page.getByTestId('message-assistant').locator('.text').first()
  await expect(answer).toContainText('The Fram')
  await expect(answer).toContainText('you can walk her deck.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  const whileRunning = (await statesSeen(page)).filter((state) => state.status === 'running' && state.answered > 0)
  expect(new Set(whileRunning.map(({ answered }) => answered)).size).toBeGreaterThan(1)
  await expect(page.getByTestId('announcer')).toHaveText(/^Done\. The assistant replied/)
})

test('thinks, runs two tools in parallel and uses their results', mainEverywhere, async ({ page }) => {
  await noteStates(page)
  await pick(page, 'Thinking and tools')
  const measure = page.getByTestId('tool-card').filter({ hasText: 'measure_drift' })
  await expect(measure).toHaveAttribute('data-status', 'done')
  await expect(page.getByTestId('tool-card').filter({ hasText: 'search' })).toHaveAttribute('data-status', 'done')
  await expect(page.getByText('The coldest entry is Tuesday with -17 °C.')).toBeVisible()
  await expect(page.getByTestId('thinking').first()).not.toHaveAttribute('open')
  const states = await statesSeen(page)
  expect(states.some(({ isThinkingOpen }) => isThinkingOpen)).toBe(true)
  const running = states.flatMap(({ calls }) => calls.filter(([state]) => state === 'running').map(([, text]) => text))
  expect(running.some((text) => text.includes('measure_drift') && text.includes('of 5 bearings taken'))).toBe(true)
  await page.getByRole('tab', { name: 'Events' }).click()
  // Only the events in sight are in the page.
  const list = page.getByRole('listbox', { name: 'Event list' })
  await list.press('End')
  await expect(page.getByTestId('event').last()).toHaveAttribute('data-type', 'agentEnd')
  await list.press('Home')
  await expect(page.getByTestId('event').first()).toHaveAttribute('data-type', 'agentStart')
})

test('counts down to a retry, shows a failed tool and continues', async ({ page }) => {
  await pick(page, 'Failure and retry')
  await expect(page.getByTestId('retry')).toContainText('Too many requests')
  await expect(page.getByTestId('tool-card').filter({ hasText: 'read_file' })).toHaveAttribute('data-status', 'failed')
  await expect(page.getByText('The log has 3 days so far.')).toBeVisible()
  await expect(page.getByTestId('retry')).toHaveCount(0)
})

test('requests approval before a write and handles both decisions', mainEverywhere, async ({ page }) => {
  await pick(page, 'Approval')
  const card = page.getByTestId('tool-card').last()
  await expect(card).toHaveAttribute('data-status', 'pendingApproval')
  await expect(page.getByTestId('announcer')).toHaveText('write_file needs your approval.')
  await card.getByRole('button', { name: 'Deny' }).click()
  await expect(card).toHaveAttribute('data-status', 'denied')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await pick(page, 'Approval')
  await card.getByRole('button', { name: 'Approve' }).click()
  await expect(card).toHaveAttribute('data-status', 'done')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})

test('explains a rejected input and continues with the next one', async ({ page }) => {
  await pick(page, 'Input filter')
  await expect(status(page)).toHaveAttribute('data-status', 'rejected')
  await expect(page.getByRole('alert')).toContainText('Do not store passwords in the logbook')
  await page.getByRole('tab', { name: 'Events' }).click()
  await expect(page.getByTestId('event').filter({ hasText: 'inputRejected' })).toBeVisible()
  await pick(page, 'Text')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test('stops with Escape, returns queued text and continues', mainEverywhere, async ({ page }) => {
  const composer = page.getByRole('textbox', { name: 'Message' })
  await pick(page, 'Text')
  await expect(page.getByTestId('message-assistant')).toContainText('The Fram')
  await composer.fill('Be brief.')
  await composer.press('Enter')
  await expect(page.getByRole('list', { name: 'Queued messages' })).toContainText('Be brief.')
  await composer.press('Escape')
  await expect(status(page)).toHaveAttribute('data-status', 'aborted')
  await expect(composer).toHaveValue('Be brief.')
  await composer.press('Enter')
  await expect(page.getByText('You wrote: “Be brief.”')).toBeVisible()
})

test('steers a running agent from the keyboard', main, async ({ page }) => {
  const composer = page.getByRole('textbox', { name: 'Message' })
  await pick(page, 'Thinking and tools')
  await expect(page.getByTestId('tool-card').first()).toBeVisible()
  await composer.fill('Never mind the drift.')
  await composer.press('Enter')
  await expect(page.getByTestId('message-user').last()).toContainText('Never mind the drift.')
  await expect(page.getByText('You wrote: “Never mind the drift.”')).toBeVisible()
})

test('shows one pane on a phone without horizontal scrolling', everywhere, async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 800 })
  await pick(page, 'Thinking and tools')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(page.getByRole('complementary', { name: 'Inspector' })).toBeHidden()
  await page.getByRole('button', { name: 'Inspector', exact: true }).click()
  await expect(page.getByTestId('span').first()).toBeVisible()
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(overflow).toBe(0)
})
