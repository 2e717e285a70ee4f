import { expect, type Page, test } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { violations } from '../accessible/axe.ts'
import { serveModel } from '../page/model-server.ts'
import { card, chooseLocalServer, say, status } from '../page/playground-page.ts'

/** What code of a tool tries, and what the model is told of it. */
const tries: Record<string, { code: string; says: RegExp }> = {
  'a result': { code: 'return { sum: args.a + args.b }', says: /"sum":\s?5/ },
  'an error': { code: "throw new Error('No sum today.')", says: /No sum today\./ },
  'the storage of the page': { code: 'return localStorage.length', says: /localStorage is not defined/ },
  'the network': { code: "await fetch('http://127.0.0.1:9/?key'); return 'sent'", says: /Failed to fetch|violates/ },
  'code of others': { code: "importScripts('http://127.0.0.1:9/x.js'); return 'loaded'", says: /importScripts/ },
  'a large result': { code: "return 'x'.repeat(100_001)", says: /more than 100000 characters/ },
  'a loop without an end': { code: 'for (;;);', says: /exceeded timeout of 10s/ },
}

async function write(page: Page, code: string): Promise<void> {
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Own tools', exact: true }).click()
  const field = page.getByRole('textbox', { name: 'Code' })
  if ((await field.count()) === 0) await page.getByRole('button', { name: 'Add a tool' }).click()
  await field.fill(code)
}

test('runs a custom tool isolated from the page and stores it', async ({ page }) => {
  await using model = await serveModel(openai, ({ toolResults }) => {
    if (toolResults.length > 0) return { text: [`The tool said: ${toolResults.join(' ')}`] }
    return { text: ['I add.'], calls: [{ id: `call_${model.requests.length}`, name: 'add', arguments: { a: 2, b: 3 } }] }
  })
  const elsewhere: string[] = []
  page.on('request', (request) => request.url().includes('127.0.0.1:9/') && elsewhere.push(request.url()))
  await page.goto('/')
  await chooseLocalServer(page, { address: `${model.url}/v1`, model: 'adder' })
  for (const [at, [name, { code, says }]] of Object.entries(tries).entries()) {
    await write(page, code)
    if (at === 0) expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Apply' }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await say(page, name)
    await expect(page.getByTestId('tool-card')).toHaveCount(at + 1)
    await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
    await card(page).getByRole('button', { name: 'Approve' }).click()
    await expect(page.getByTestId('message-assistant').filter({ hasText: 'The tool said:' })).toHaveCount(at + 1)
    await expect(page.getByTestId('message-assistant').last()).toContainText(says)
    await expect(status(page)).toHaveAttribute('data-status', 'completed')
    await expect(page.locator('iframe')).toHaveCount(0)
  }
  expect(elsewhere).toEqual([])

  await page.reload()
  await write(page, 'return 1')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('two words')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('alert')).toContainText('two words')
})
