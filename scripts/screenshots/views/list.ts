import type { Page } from 'playwright'
import { SubAgentTool } from '../../../src/agents.ts'
import type { InputQuestion } from '../../../src/contract/run/run-facts.ts'
import { defineTool } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { longHistory } from '../../../test/harness/long-history.ts'
import { useAgentServer } from '../services.ts'
import { click, command, finish, play, press, say, settle, tab, until } from '../steps.ts'
import type { View } from '../view.ts'

/** Takes conversations in, of so many messages each. */
async function take(page: Page, messages: number, times = 1): Promise<void> {
  const buffer = Buffer.from(await longHistory(messages))
  for (let at = 0; at < times; at++) {
    await page.getByLabel('File to import').setInputFiles({ name: `${at}.jsonl`, mimeType: 'text/plain', buffer }, { timeout: 60_000 })
    await until(page, `[data-testid=stored-session] >> nth=${Math.min(at, 20)}`, 100)
  }
  await settle(page)
}

/** Has a tool of an agent on a server ask the visitor. */
async function asked(page: Page, made: AsyncDisposableStack, question: InputQuestion): Promise<void> {
  const book = defineTool({
    ...{ name: 'book_table', description: 'Books a table.', parameters: { type: 'object' } as const },
    execute: async (_given, { requestInput }) => JSON.stringify(await requestInput?.(question)),
  })
  await useAgentServer(page, made, () => {
    return {
      model: scripted([{ text: 'I book.', toolCalls: [{ name: 'book_table', arguments: {} }] }, { text: 'Booked.' }]),
      tools: [book],
    }
  })
  await say(page, 'Book a table.')
  await until(page, '[data-testid=question]')
  await settle(page)
}

/** Many conversations, long ones, and what they do out of sight. */
export const list: readonly View[] = [
  { name: 'many-conversations', pane: 'sessions', make: (page) => take(page, 2, 40) },
  {
    name: 'delete-many',
    pane: 'sessions',
    async make(page) {
      await take(page, 2, 8)
      await press(page, 'Choose conversations')
      await press(page, 'All')
      await click(page.getByTestId('chosen').getByRole('button', { name: /^Delete/ }))
    },
  },
  {
    name: 'rename',
    pane: 'sessions',
    async make(page) {
      await finish(page, 'Text')
      await page.getByTestId('stored-session').hover()
      await click(page.getByRole('button', { name: /^Rename “/ }))
    },
  },
  {
    name: 'search-without-finds',
    pane: 'sessions',
    async make(page) {
      await finish(page, 'Text')
      await page.getByRole('searchbox', { name: 'Search conversations' }).fill('penguin')
      await until(page, '.nothing:has-text("Nothing was found")')
    },
  },
  {
    name: 'list-of-doings',
    pane: 'sessions',
    async make(page) {
      await play(page, 'Approval', '[data-status=pendingApproval]')
      await press(page, 'New')
      await play(page, 'Thinking and tools', '.tool-progress')
      await press(page, 'New')
      await play(page, 'Text', '.prose')
      await press(page, 'New')
      await until(page, '[data-activity=answered]')
      await play(page, '500 turns', '[data-testid=tool-card] >> nth=3')
      await press(page, 'New')
    },
  },
  { name: 'thousand-turns', make: (page) => take(page, 2000) },
  {
    name: 'thousand-turns-requests',
    pane: 'inspector',
    async make(page) {
      await take(page, 2000)
      await tab(page, 'Request')
      await settle(page)
    },
  },
  {
    name: 'forced-colours',
    async make(page) {
      await page.emulateMedia({ forcedColors: 'active' })
      await finish(page, 'Thinking and tools')
      await play(page, 'Approval', '[data-status=pendingApproval]')
    },
  },
  {
    name: 'forced-colours-request',
    pane: 'inspector',
    async make(page) {
      await page.emulateMedia({ forcedColors: 'active' })
      await finish(page, 'Thinking and tools')
      await tab(page, 'Request')
      await settle(page)
    },
  },
  {
    name: 'background-agent',
    async make(page, made) {
      const parameters = { type: 'object' } as const
      const look = defineTool({ name: 'look', description: 'Looks.', parameters, needsApproval: true, execute: () => 'a bee' })
      await useAgentServer(page, made, () => {
        const model = scripted([{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'I have seen a bee.' }])
        const watcher = new SubAgentTool({ name: 'watcher', description: 'Watches.', model, tools: [look], background: true })
        const call = { toolCalls: [{ name: 'watcher', arguments: { task: 'Watch the meadow.' } }] }
        return { model: scripted([call, { text: 'It watches now.' }, { text: 'A bee was there.' }]), tools: [watcher] }
      })
      await say(page, 'Have the meadow watched.')
      await until(page, '.message:has-text("It watches now")')
      await settle(page)
    },
  },
  {
    name: 'question',
    async make(page, made) {
      await asked(page, made, {
        message: 'How many guests, and when? The table by the window has room for six.',
        schema: {
          type: 'object',
          properties: {
            guests: { type: 'integer', minimum: 1, maximum: 6, title: 'Guests' },
            meal: { type: 'string', enum: ['breakfast', 'lunch', 'dinner'], title: 'Meal' },
            note: { type: 'string', title: 'Note for the kitchen', description: 'What nobody at the table eats.' },
            window: { type: 'boolean', title: 'By the window', default: true },
          },
          required: ['guests', 'meal'],
        },
      })
    },
  },
  {
    name: 'question-of-a-page',
    make: (page, made) => asked(page, made, { message: 'Sign in at the booking office.', url: 'https://booking.example/sign-in?table=7' }),
  },
  {
    name: 'summary-request',
    pane: 'inspector',
    async make(page) {
      await finish(page, 'Compaction')
      await tab(page, 'Request')
      await settle(page)
    },
  },
  {
    name: 'storage-many',
    async make(page) {
      await take(page, 2, 12)
      await command(page, 'storage')
      await settle(page)
    },
  },
]
