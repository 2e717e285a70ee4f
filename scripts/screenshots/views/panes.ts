import { click, command, ends, finish, play, press, settle, tab, until } from '../steps.ts'
import type { View } from '../view.ts'

/** The right pane. */
export const inspector: readonly View[] = [
  {
    name: 'trace',
    pane: 'inspector',
    async make(page) {
      await finish(page, 'Sub-agent')
      await click(page.locator('[data-testid=span][data-kind=tool] .span-label').first())
    },
  },
  { name: 'trace-failures', pane: 'inspector', make: (page) => finish(page, 'Failure and retry') },
  {
    name: 'request',
    pane: 'inspector',
    async make(page) {
      await finish(page, 'Thinking and tools')
      await tab(page, 'Request')
      await click(page.locator('.block-row summary').nth(3))
    },
  },
  {
    name: 'request-diff',
    pane: 'inspector',
    async make(page) {
      await finish(page, 'Pruning')
      await tab(page, 'Request')
      await settle(page, 100)
    },
  },
  {
    name: 'request-body',
    pane: 'inspector',
    async make(page) {
      await finish(page, 'Thinking and tools')
      await tab(page, 'Request')
      await press(page, 'Body')
    },
  },
  {
    name: 'events',
    pane: 'inspector',
    async make(page) {
      await finish(page, 'Failure and retry')
      await tab(page, 'Events')
      await settle(page, 100)
    },
  },
  {
    name: 'events-filtered',
    pane: 'inspector',
    async make(page) {
      await finish(page, 'Thinking and tools')
      await tab(page, 'Events')
      await page.getByRole('searchbox', { name: 'Filter events' }).fill('tool')
      await settle(page, 100)
      await click(page.getByTestId('event').nth(3))
    },
  },
  {
    name: 'usage',
    pane: 'inspector',
    async make(page) {
      await finish(page, 'Compaction')
      await tab(page, 'Usage')
      await settle(page, 100)
    },
  },
]

/** The left pane, and what it leads to. */
export const sessions: readonly View[] = [
  {
    name: 'needs-you-elsewhere',
    async make(page) {
      await play(page, 'Approval', '[data-status=pendingApproval]')
      await command(page, 'new conversation')
    },
  },
  {
    name: 'choose-conversations',
    pane: 'sessions',
    async make(page) {
      await finish(page, 'Text')
      await press(page, 'Choose conversations')
    },
  },
  {
    name: 'tree',
    pane: 'sessions',
    async make(page) {
      await finish(page, 'Text')
      await press(page, 'Answer the last question again')
      await ends(page)
      await finish(page, 'Sub-agent')
      await play(page, 'Parallel with judge', 'details[data-testid=race]')
      await settle(page)
      await press(page, 'New')
      await finish(page, 'Thinking and tools')
      await click(page.locator('.pick').nth(1))
      await until(page, '[data-testid=loop] >> nth=5')
    },
  },
  {
    name: 'search',
    pane: 'sessions',
    async make(page) {
      await finish(page, 'Thinking and tools')
      await press(page, 'New')
      await finish(page, 'Text')
      await page.getByRole('searchbox', { name: 'Search conversations' }).fill('nautical')
      await until(page, '.excerpt')
    },
  },
  {
    name: 'delete-question',
    pane: 'sessions',
    async make(page) {
      await finish(page, 'Text')
      await click(page.getByRole('button', { name: 'Delete “Tell me about the ship Fram.”' }))
    },
  },
  {
    name: 'replay',
    async make(page) {
      await finish(page, 'Thinking and tools')
      await press(page, 'Replay')
      await until(page, '.tool-progress:has-text("2 of 5")')
    },
  },
  {
    name: 'compare',
    async make(page) {
      await command(page, 'compare 2')
      await press(page, 'Configuration')
      await settle(page, 50)
    },
  },
  {
    name: 'compare-running',
    async make(page) {
      await command(page, 'compare 2')
      await press(page, 'Configuration')
      await press(page, 'Compare')
      await until(page, '.race-column:nth-child(4) .block')
      await page.clock.runFor(400)
    },
  },
]
