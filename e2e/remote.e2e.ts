import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserName, expect, test } from './browser.ts'
import { type RunningWorker, startDeployment } from './deployment.ts'

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

  await page.getByRole('button', { name: 'Take home' }).click()
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
