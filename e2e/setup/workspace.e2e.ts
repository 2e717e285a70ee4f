import type { Page } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { browserName, everywhere, expect, test } from '../page/browser.ts'
import { type ModelServer, serveModel } from '../page/model-server.ts'
import { card, chooseLocalServer, say, status } from '../page/playground-page.ts'

const file = { path: 'notes/today.md', content: 'Open water ahead.' }

/** Writes the file when it is told to, else reads it. */
function keeper(): Promise<ModelServer> {
  return serveModel(openai, ({ body, toolResults }) => {
    if (toolResults.length > 0) return { text: [`The tool said: ${toolResults.join(' ')}`] }
    const isToRead = JSON.stringify(body).includes('Read the note.')
    if (isToRead) return { text: ['I read.'], calls: [{ id: 'call_read', name: 'read_file', arguments: { path: file.path } }] }
    return { text: ['I write.'], calls: [{ id: 'call_write', name: 'write_file', arguments: file }] }
  })
}

async function filesOf(page: Page): Promise<string> {
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Agent', exact: true }).click()
  const summary = await page
    .locator('.settings-body')
    .getByText(/stores the files|Files are in memory/)
    .innerText()
  await page.getByRole('button', { name: 'Cancel' }).click()
  return summary
}

test('stores files of an agent in the browser or reports that it cannot', everywhere, async ({ page }) => {
  await using server = await keeper()
  await page.goto('/')
  await chooseLocalServer(page, { address: `${server.url}/v1`, model: 'keeper' })
  // WebKitGTK has no file system for pages.
  const isKept = browserName !== 'webkit'
  expect(await filesOf(page)).toContain(isKept ? 'stores the files' : 'in memory and lost after a reload')
  await say(page, 'Write a note.')
  await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
  await card(page).getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('The tool said: Wrote 17 bytes to notes/today.md')).toBeVisible()
  // What is on its way when a page ends is asked for again.
  await expect(status(page)).toHaveAttribute('data-status', 'completed')

  await page.reload()
  await expect(page.getByText('The tool said: Wrote 17 bytes to notes/today.md')).toBeVisible()
  await say(page, 'Read the note.')
  await expect(page.getByTestId('tool-card')).toHaveCount(2)
  await expect(card(page)).toHaveAttribute('data-status', isKept ? 'done' : 'failed')
  if (isKept) await expect(page.getByText('The tool said: [1 lines] 1 | Open water ahead.')).toBeVisible()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})

test('reports that the page may store no files', async ({ page, baseURL }) => {
  // Only pages that came over https, or from this machine, may.
  await page.route('http://insecure.test/**', async (route) => {
    const { pathname } = new URL(route.request().url())
    await route.fulfill({ response: await route.fetch({ url: `${baseURL}${pathname}` }) })
  })
  await page.goto('http://insecure.test/')
  await chooseLocalServer(page, { address: 'http://127.0.0.1:9/v1', model: 'nobody' })
  expect(await filesOf(page)).toContain('in memory and lost after a reload')
})
