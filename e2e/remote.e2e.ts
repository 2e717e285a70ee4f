import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright/test'
import { browserName, expect, test } from './browser.ts'
import { cuttable } from './cuttable.ts'
import { type RunningWorker, startDeployment } from './deployment.ts'
import { card, say, status, tab } from './playground-page.ts'

const nothing = () => undefined

/** The page as one deployment serves it, beside its Worker. */
let worker: RunningWorker
let state: string

test.beforeAll(async () => {
  test.setTimeout(120_000)
  state = await mkdtemp(join(tmpdir(), 'phi-deployment-'))
  worker = await startDeployment(state)
})

test.afterAll(async () => {
  await worker?.close()
  await rm(state, { recursive: true, force: true })
})

test.skip(browserName !== 'chromium', 'The connection is cut by Playwright.')

test('talks to the agent on the worker, through a cut connection and a reload, and takes the conversation home and back', async ({
  page,
  context,
}) => {
  test.setTimeout(90_000)
  const composer = page.getByRole('textbox', { name: 'Message' })
  await page.goto(worker.url)
  await page.getByTestId('model-button').click()
  await page.getByText('On a server').click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText('Kept on the server.')).toBeVisible()
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
  await page.getByRole('button', { name: 'Take home' }).click()
  // What is said now would stay behind.
  await expect(composer).toBeDisabled()
  release()
  await expect(page.getByText('Kept in this browser only.')).toBeVisible()
  await expect(page.getByText('the whole loop runs in this Worker.')).toBeVisible()
  await composer.fill('And here?')
  await composer.press('Enter')
  await expect(page.getByText('You wrote: “And here?”.')).toBeVisible()
  await expect(page.getByTestId('run-status')).toHaveAttribute('data-status', 'completed')
  await page.getByRole('button', { name: 'To server' }).click()
  await expect(page.getByText('Kept on the server.')).toBeVisible()
  await expect(page.getByText('You wrote: “And here?”.')).toBeVisible()
})

async function chooseServer(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.getByTestId('model-button').click()
  await page.getByText('On a server').click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText('Kept on the server.')).toBeVisible()
}

/** What was said and called. */
async function said(page: Page) {
  const texts = await page.locator('.message .text').allInnerTexts()
  return { texts, calls: await page.getByTestId('tool-card').locator('.tool-name').allInnerTexts() }
}

/** That, and every event that was heard, in the order in which it came. */
async function shown(page: Page) {
  await tab(page, 'Events')
  await expect(page.getByTestId('event').last()).toHaveAttribute('data-type', 'agentEnd')
  return { ...(await said(page)), events: await page.getByTestId('event').locator('.type').allInnerTexts() }
}

test('an answer that is cut off goes on where it was: no event is lost, and none comes twice', async ({ page }) => {
  await using way = await cuttable(worker.url)
  // Room for all events: those that are out of sight are not in the page.
  await page.setViewportSize({ width: 1440, height: 1400 })
  await chooseServer(page, way.url)
  const answer = page.getByTestId('message-assistant').first().locator('.text').first()

  async function talk(onWords: () => unknown, onQuestion: () => unknown) {
    await say(page, 'Hello server')
    await expect(answer).toContainText('I say a little more')
    await onWords()
    await expect(answer).toContainText('whether anybody reads it or not.')
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
    way.cut()
    expect(await answer.innerText()).not.toBe(whole.texts[1])
    way.mend()
    await expect.poll(() => way.connections).toBeGreaterThan(before)
  }
  const cutBetween = async () => {
    const before = way.connections
    way.cut()
    way.mend()
    await expect.poll(() => way.connections).toBeGreaterThan(before)
  }
  const cut = await talk(cutOff, cutBetween)
  expect(cut).toEqual(whole)
  await page.reload()
  await expect(page.getByText('the whole loop runs in this Worker.')).toBeVisible()
  expect(await said(page)).toEqual({ texts: whole.texts, calls: whole.calls })
})
