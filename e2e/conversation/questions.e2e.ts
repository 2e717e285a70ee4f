import { expect, type Page, test } from 'playwright/test'
import { defineTool } from '../../src/index.ts'
import { type ScriptedStep, scripted } from '../../testing/index.ts'
import { violations } from '../accessible/axe.ts'
import { chooseAgentServer, serveAgent } from '../page/agent-server.ts'
import { main } from '../page/browser.ts'
import { card, quickPage, say, status } from '../page/playground-page.ts'

const schema = {
  type: 'object',
  properties: {
    guests: { type: 'integer', minimum: 1 },
    meal: { type: 'string', enum: ['lunch', 'dinner'] },
    days: { type: 'array', items: { type: 'string', enum: ['Friday', 'Saturday'] } },
    note: { type: 'string', title: 'A note \u202efor the kitchen' },
    outside: { type: 'boolean', default: true },
  },
  required: ['guests', 'meal'],
}

/** Opens the page at a server whose tool asks before it books, and gives what it was answered to the model. */
async function open(page: Page, question: object) {
  const book = defineTool({
    ...{ name: 'book_table', description: 'Books a table.', parameters: { type: 'object' } as const },
    execute: async (_given, { requestInput }) => JSON.stringify(await requestInput?.({ message: 'How many?', ...question })),
  })
  const model = scripted(({ messages }): ScriptedStep => {
    const last = messages.at(-1)
    if (last?.role !== 'toolResult') return { toolCalls: [{ name: 'book_table', arguments: {} }] }
    return { text: `The tool said: \`${last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')}\`` }
  })
  const server = await serveAgent(() => ({ model, tools: [book] }), String(test.info().project.use.baseURL))
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.goto(quickPage)
  await chooseAgentServer(page, server.url)
  await say(page, 'Book a table.')
  return server
}

const answer = (page: Page) => page.getByTestId('message-assistant').last()

test('requests user input by a form, also after a reload, and returns the values', main, async ({ page }) => {
  await using _server = await open(page, { schema })
  const question = page.getByTestId('question')
  await expect(question).toContainText('How many?')
  await expect(status(page)).toHaveText('Needs you')
  await expect(card(page)).toContainText('needs your answer')
  await expect(page.getByTestId('announcer')).toContainText('book_table asks: How many?')
  expect(await violations(page)).toEqual([])
  await page.reload()
  await question.getByRole('spinbutton', { name: 'guests' }).fill('0')
  await question.getByRole('combobox', { name: 'meal' }).selectOption('dinner')
  await question.getByRole('button', { name: 'Answer' }).click()
  // The browser sees what does not fit.
  await expect(question).toBeVisible()
  await question.getByRole('spinbutton', { name: 'guests' }).fill('4')
  await question.getByRole('checkbox', { name: 'Saturday' }).check()
  await expect(question).toContainText('A note \\u{202e}for the kitchen')
  await question.getByRole('button', { name: 'Answer' }).click()
  const filled = { guests: 4, meal: 'dinner', days: ['Saturday'], outside: true }
  await expect(answer(page)).toContainText(JSON.stringify({ action: 'accept', content: filled }))
  await expect(question).toHaveCount(0)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})

test('declines a user input request', async ({ page }) => {
  await using _server = await open(page, { schema })
  await page.getByTestId('question').getByRole('button', { name: 'Decline' }).click()
  await expect(answer(page)).toContainText('{"action":"decline"}')
})

test('shows a requested URL first and opens only web URLs', async ({ page, context }) => {
  await context.route('https://booking.example/**', (route) => route.fulfill({ body: 'Sign in' }))
  await using _server = await open(page, { url: 'https://booking.example/sign-in' })
  const question = page.getByTestId('question')
  await expect(question).toContainText('https://booking.example/sign-in')
  const opening = context.waitForEvent('page')
  await question.getByRole('button', { name: 'Open in a new tab' }).click()
  expect((await opening).url()).toBe('https://booking.example/sign-in')
  await expect(answer(page)).toContainText('{"action":"accept"}')
})
