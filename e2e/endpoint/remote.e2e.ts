import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright/test'
import { browserName, expect, test } from '../page/browser.ts'
import { card, composer, pick, say, status, tab } from '../page/playground-page.ts'
import { cuttable } from './cuttable.ts'
import { type RunningWorker, startDeployment } from './deployment.ts'

const nothing = () => undefined

/** The page as one deployment serves it, beside its Worker. */
let worker: RunningWorker
let state: string

test.beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), 'phi-deployment-'))
  worker = await startDeployment(state)
})

test.afterAll(async () => {
  await worker?.close()
  await rm(state, { recursive: true, force: true })
})

// One worker process, and so one deployment, for all of them.
test.describe.configure({ mode: 'default' })
test.skip(browserName !== 'chromium', 'The connection is cut by Playwright.')

test('talks to the worker agent across a disconnect and reload, and moves the conversation', async ({ page, context }) => {
  const composer = page.getByRole('textbox', { name: 'Message' })
  await page.goto(worker.url)
  await page.getByTestId('model-button').click()
  await page.getByText('On a server').click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText('Stored on the server.')).toBeVisible()
  await expect(page.getByTestId('model-button')).toContainText('Scripted demo model')

  await composer.fill('Hello server')
  await composer.press('Enter')
  await expect(page.getByTestId('message-assistant').first()).toContainText('I am a scripted model')
  await context.setOffline(true)
  await page.waitForFunction(() => !navigator.onLine)
  await context.setOffline(false)
  await page.reload()
  const call = page.getByTestId('tool-card').last()
  await expect(call).toHaveAttribute('data-status', 'pendingApproval')
  await call.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('the whole loop runs in this Worker.')).toBeVisible()
  await expect(page.getByTestId('message-user')).toHaveCount(1)

  let release = nothing
  const held = new Promise<void>((resolve) => {
    release = () => void resolve()
  })
  await page.route('**/export', async (route) => {
    await held
    await route.continue()
  })
  await page.getByRole('button', { name: 'To browser' }).click()
  // What is said now would stay behind.
  await expect(composer).toBeDisabled()
  release()
  await expect(page.getByText('In this browser only.')).toBeVisible()
  await expect(page.getByText('the whole loop runs in this Worker.')).toBeVisible()
  await composer.fill('And here?')
  await composer.press('Enter')
  await expect(page.getByText('You wrote: “And here?”.')).toBeVisible()
  await expect(page.getByTestId('run-status')).toHaveAttribute('data-status', 'completed')
  await page.getByRole('button', { name: 'To server' }).click()
  await expect(page.getByText('Stored on the server.')).toBeVisible()
  await expect(page.getByText('You wrote: “And here?”.')).toBeVisible()
})

async function toServer(page: Page, address = worker.url): Promise<void> {
  await page.goto(address)
  await page.getByTestId('model-button').click()
  await page.getByText('On a server').click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText('Stored on the server.')).toBeVisible()
}

/** What was said and called. */
async function textsAndCalls(page: Page) {
  const texts = await page.locator('.message .text').allInnerTexts()
  return { texts, calls: await page.getByTestId('tool-card').locator('.tool-name').allInnerTexts() }
}

/** That, and every event that was heard, in the order in which it came. */
async function shown(page: Page) {
  await tab(page, 'Events')
  await expect(page.getByTestId('event').last()).toHaveAttribute('data-type', 'agentEnd')
  return { ...(await textsAndCalls(page)), events: await page.getByTestId('event').locator('.type').allInnerTexts() }
}

test('resumes an interrupted stream without lost or duplicate events', async ({ page }) => {
  await using way = await cuttable(worker.url)
  // Room for all events: those that are out of sight are not in the page.
  await page.setViewportSize({ width: 1440, height: 1400 })
  await toServer(page, way.url)
  const answer = page.getByTestId('message-assistant').first().locator('.text').first()

  async function talk(onWords: () => unknown, onQuestion: () => unknown) {
    await say(page, 'Hello server')
    await expect(answer).toContainText('I am')
    await onWords()
    await expect(answer).toContainText('even if no client is connected.')
    await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
    await onQuestion()
    await card(page).getByRole('button', { name: 'Approve' }).click()
    await expect(page.getByText('the whole loop runs in this Worker.')).toBeVisible()
    await expect(status(page)).toHaveAttribute('data-status', 'completed')
    return shown(page)
  }

  const whole = await talk(nothing, nothing)
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await expect(page.getByTestId('message-user')).toHaveCount(0)
  const cutOff = async () => {
    const before = way.connections
    expect(await answer.innerText()).not.toBe(whole.texts[1])
    way.cut()
    way.mend()
    await expect.poll(() => way.connections).toBeGreaterThan(before)
  }
  const cutBetween = async () => {
    const before = way.connections
    way.cut()
    way.mend()
    await expect.poll(() => way.connections).toBeGreaterThan(before)
  }
  // The words stop in the middle of the answer, and stay there until the test has looked.
  way.holdBefore('event: messageUpdate', 3)
  const cut = await talk(cutOff, cutBetween)
  expect(cut).toEqual(whole)
  await page.reload()
  await expect(page.getByText('the whole loop runs in this Worker.')).toBeVisible()
  expect(await textsAndCalls(page)).toEqual({ texts: whole.texts, calls: whole.calls })
})

/** Says something, and lets the model remember what it asks to remember. */
async function sayAndApprove(page: Page, text: string): Promise<void> {
  await say(page, text)
  await approve(page)
}

async function approve(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
}

const loops = (page: Page, kind: string) => page.locator(`[data-testid=loop][data-kind=${kind}]`)

test('regenerates, edits and branches a worker conversation like a local one', async ({ page, context }) => {
  await toServer(page)
  await sayAndApprove(page, 'First.')
  await page.getByRole('button', { name: 'Regenerate the last response' }).last().click()
  await approve(page)
  await expect(loops(page, 'rerun')).toHaveCount(1)
  await expect(page.getByTestId('message-user')).toHaveCount(1)
  await sayAndApprove(page, 'Second.')
  await expect(page.getByTestId('message-user')).toHaveText([/First/, /Second/])
  await page.getByTestId('message-assistant').first().getByRole('button', { name: 'Branch from here' }).click()
  await expect(page.getByTestId('message-user')).toHaveText([/First/])
  const watcher = await context.newPage()
  await watcher.goto(page.url())
  await expect(watcher.getByTestId('message-user')).toHaveText([/First/, /Second/])
  await sayAndApprove(page, 'Another way.')
  await expect(watcher.getByTestId('message-user')).toHaveText([/First/, /Another way/])
  await watcher.close()
  await expect(page.getByTestId('message-user')).toHaveText([/First/, /Another way/])
  await page.reload()
  await expect(page.getByTestId('message-user')).toHaveText([/First/, /Another way/])
  await expect(page.getByTestId('loop')).toHaveCount(4)
  await expect(page.locator('[data-testid=loop][data-path=off]')).toHaveCount(1)
  await page.getByRole('button', { name: 'Edit and send again' }).last().click()
  await page.getByRole('textbox', { name: 'Edited message' }).fill('In other words.')
  await page.getByRole('button', { name: 'Send instead' }).click()
  await approve(page)
  await expect(page.getByTestId('message-user')).toHaveText([/First/, /In other words/])
})

test('edits the queue on the worker after a reload without stopping other conversations', async ({ page }) => {
  await toServer(page)
  await composer(page).fill('Wait for me.')
  await composer(page).press('Enter')
  await expect(page.getByRole('button', { name: 'Approve' })).toBeVisible()
  for (const text of ['Later.', 'Never.', 'At last.']) {
    await composer(page).fill(text)
    await composer(page).press('Alt+Enter')
  }
  await page.getByRole('button', { name: 'Remove “Never.”' }).click()
  await expect(page.getByTestId('queued')).toHaveText([/Later/, /At last/])
  await page.reload()
  await expect(page.getByTestId('queued')).toHaveText([/Later/, /At last/])
  await page.getByRole('button', { name: 'Edit “Later.”' }).click()
  await expect(page.getByTestId('queued')).toHaveText([/At last/])
  await expect(composer(page)).toHaveValue('Later.')
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await expect(page.getByTestId('message-user')).toHaveCount(0)
  await page
    .getByRole('button', { name: /Wait for me/ })
    .first()
    .click()
  await expect(page.getByTestId('queued')).toHaveText([/At last/])
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByTestId('message-user')).toHaveText([/Wait for me/, /At last/])
  await approve(page)
})

test('restores durations, trace, requests and a replay of a worker conversation', async ({ page }) => {
  await toServer(page)
  await sayAndApprove(page, 'Show me.')
  await page.reload()
  const call = page.getByTestId('tool-card').first()
  await expect(call).toContainText(/done · /i)
  await expect(page.locator('[data-testid=span][data-kind=tool]')).toHaveCount(2)
  await expect(page.locator('[data-testid=span][data-kind=model]')).toHaveCount(3)
  await tab(page, 'Request')
  await expect(page.getByTestId('request-block').first()).toBeVisible()
  await page.getByRole('button', { name: 'Replay' }).click()
  await expect(page.getByTestId('replay')).toBeVisible()
  await page.getByRole('button', { name: '10×' }).click()
  await expect(page.getByText('the whole loop runs in this Worker.')).toBeVisible()
})

test('restores the reason of the judge after a reload and on the worker', async ({ page }) => {
  await page.goto(worker.url)
  await pick(page, 'Parallel with judge')
  const verdict = page.getByText(/^Judge: demo-\w+: it alone says how cold it was/)
  const race = page.locator('details[data-testid=race]')
  await expect(race).toHaveCount(1)
  await expect(verdict).toBeVisible()
  await page.reload()
  await expect(verdict).toBeVisible()
  await expect(race.getByTestId('race-column')).toHaveCount(3)
  await page.getByRole('button', { name: 'To server' }).click()
  await expect(page.getByText('Stored on the server.')).toBeVisible()
  await expect(verdict).toBeVisible()
  await page.reload()
  await expect(verdict).toBeVisible()
  await expect(race.locator('[data-chosen=true]')).toContainText('open water came in sight')
  await sayAndApprove(page, 'And on.')
  await expect(verdict).toBeVisible()
})
