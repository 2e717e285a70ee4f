import type { Page } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { everywhere, expect, test } from '../page/browser.ts'
import { piece, streamed } from '../page/chunks.ts'
import { type ModelServer, serveModel } from '../page/model-server.ts'
import { chooseLocalServer, composer, quickPage, say, status } from '../page/playground-page.ts'

// What a person does while an answer stands still in its middle.

const half = 'Half an answer'

/** Answers the first question whole, and each other one by half. */
function halting(): Promise<ModelServer> {
  let questions = 0
  return serveModel(openai, () => {
    questions += 1
    return questions === 1 ? { text: ['Whole.'] } : streamed(piece({ role: 'assistant', content: half }), true)
  })
}

async function askTwice(page: Page, service: ModelServer): Promise<void> {
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
  await say(page, 'First question.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await say(page, 'Second question.')
  await expect(page.getByText(half)).toBeVisible()
}

test('rejects an edit during a run, keeps the text and offers to stop', everywhere, async ({ page }) => {
  await using service = await halting()
  await askTwice(page, service)
  await page.getByTestId('message-user').first().getByRole('button', { name: 'Edit and send again' }).press('Enter')
  await page.getByRole('textbox', { name: 'Edited message' }).fill('Said otherwise.')
  await page.getByRole('button', { name: 'Send instead' }).press('Enter')
  const notice = page.getByTestId('notice')
  await expect(notice).toContainText('Not sent: a run is active. Wait for it to end, or stop it.')
  await expect(page.getByRole('textbox', { name: 'Edited message' })).toHaveValue('Said otherwise.')
  await notice.getByRole('button', { name: 'Stop it' }).press('Enter')
  await expect(status(page)).toHaveAttribute('data-status', 'aborted')
  await page.getByRole('button', { name: 'Send instead' }).press('Enter')
  await expect(page.getByTestId('message-user')).toHaveText([/Said otherwise\./])
})

test('exports a conversation before its first response', async ({ page }) => {
  await using service = await serveModel(openai, () => streamed(piece({ role: 'assistant', content: half }), true))
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
  await say(page, 'A question.')
  await expect(page.getByText(half)).toBeVisible()
  const saving = page.waitForEvent('download')
  await page.getByLabel('Export as').selectOption('markdown')
  expect((await saving).suggestedFilename()).toMatch(/\.md$/)
})

test('keeps the partial text of a stalled response', everywhere, async ({ page }) => {
  await using service = await halting()
  await askTwice(page, service)
  const isKept = () =>
    page.evaluate(async () => {
      const asked = indexedDB.open('phi-playground')
      await new Promise((resolve) => asked.addEventListener('success', resolve))
      const all = asked.result.transaction('records').objectStore('records').getAll()
      await new Promise((resolve) => all.addEventListener('success', resolve))
      asked.result.close()
      return JSON.stringify(all.result).includes('Half an answer')
    })
  await expect.poll(isKept).toBe(true)
})

test('moves focus to the composer when a focused button disappears', everywhere, async ({ page }) => {
  await using service = await halting()
  await askTwice(page, service)
  const field = composer(page)
  const press = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).press('Enter')
    await expect(field).toBeFocused()
  }
  await press('Stop')
  await expect(status(page)).toHaveAttribute('data-status', 'aborted')
  await press('Continue')
  await expect(status(page)).toHaveAttribute('data-status', 'running')
  await press('Stop')
  await expect(status(page)).toHaveAttribute('data-status', 'aborted')
  await page.reload()
  await expect(status(page)).toHaveAttribute('data-status', 'aborted')
  await press('Continue')
})
