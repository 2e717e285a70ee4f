/** Everything that docs/playground.md says is to be seen, as views with a name. */
import type { Page } from 'playwright'
import { click, command, ends, finish, key, play, press, say, settings, settle, tab, until, useLocalServer } from './steps.ts'

export interface View {
  name: string
  /** What it is about, where the page has room for one pane only. */
  pane?: 'sessions' | 'inspector'
  /** From the empty page to what is to be seen. */
  make(page: Page): Promise<unknown>
}

const opening: readonly View[] = [{ name: 'opening', make: async () => undefined }]

const conversation: readonly View[] = [
  { name: 'text-streaming', make: (page) => play(page, 'Text', '.prose table') },
  { name: 'text', make: (page) => finish(page, 'Text') },
  {
    name: 'thinking',
    make: (page) => play(page, 'Thinking and tools', '[data-testid=thinking][data-status=streaming]').then(() => page.clock.runFor(300)),
  },
  { name: 'tools-running', make: (page) => play(page, 'Thinking and tools', '.tool-progress:has-text("3 of 5")') },
  { name: 'tools', make: (page) => finish(page, 'Thinking and tools') },
  {
    name: 'tool-opened',
    async make(page) {
      await finish(page, 'Thinking and tools')
      await click(page.locator('.thinking summary').first())
      await click(page.locator('.tool > summary').first())
    },
  },
  { name: 'retry', make: (page) => play(page, 'Failure and retry', '[data-testid=retry]').then(() => page.clock.runFor(600)) },
  { name: 'failed-tool', make: (page) => finish(page, 'Failure and retry') },
  { name: 'approval', make: (page) => play(page, 'Approval', '[data-status=pendingApproval]') },
  {
    name: 'denied',
    async make(page) {
      await play(page, 'Approval', '[data-status=pendingApproval]')
      await press(page, 'Deny')
      await ends(page)
    },
  },
  { name: 'rejected', make: (page) => finish(page, 'Input filter') },
  { name: 'sub-agent-running', make: (page) => play(page, 'Sub-agent', '.child-call[data-status=done]') },
  {
    name: 'sub-agent',
    async make(page) {
      await finish(page, 'Sub-agent')
      await click(page.locator('.tool > summary').first())
    },
  },
  {
    name: 'race-running',
    make: (page) => play(page, 'Parallel with judge', '.race-column:nth-child(3) .block').then(() => page.clock.runFor(300)),
  },
  {
    name: 'race',
    async make(page) {
      await play(page, 'Parallel with judge', 'details[data-testid=race]')
      await settle(page)
    },
  },
  {
    name: 'queue',
    async make(page) {
      await play(page, 'Text', '.prose')
      await say(page, 'Keep it to three sentences.')
      await page
        .getByRole('textbox', { name: 'Message', exact: true })
        .fill('Then list her voyages after 1912, with a source for each of them if there is one to be found.')
      await press(page, 'Follow up')
      await settle(page, 40)
    },
  },
  {
    name: 'stopped',
    async make(page) {
      await play(page, 'Text', '.prose table')
      await page.keyboard.press('Escape')
      await until(page, '[data-testid=run-status][data-status=aborted]')
    },
  },
  {
    name: 'edit-message',
    async make(page) {
      await finish(page, 'Text')
      await press(page, 'Edit and send again')
    },
  },
  ...['Compaction', 'Pruning', 'Revert'].map((scenario) => ({
    name: scenario.toLowerCase(),
    async make(page: Page) {
      await finish(page, scenario)
      const show = page.getByTestId('note').getByRole('button', { name: 'show' }).first()
      await click(show)
      await page.getByTestId('note').first().scrollIntoViewIfNeeded()
      await settle(page, 100)
    },
  })),
  { name: 'long-run', make: (page) => finish(page, '500 turns', 1000) },
  {
    name: 'link-question',
    async make(page) {
      await say(page, 'See [the museum](https://frammuseum.no/polar-history/vessels/the-polar-ship-fram/?visitor=token-3f9a).')
      await ends(page)
      await click(page.locator('a.external'))
    },
  },
  {
    name: 'broken-off',
    async make(page) {
      await play(page, 'Thinking and tools', '.tool-progress')
      await page.reload()
      await until(page, '[data-testid=broken-off]')
      await settle(page)
    },
  },
  {
    name: 'another-tab',
    async make(page) {
      await finish(page, 'Text')
      const other = await page.context().newPage()
      await other.goto(page.url())
      await until(other, '[data-testid=interference]')
      await press(other, 'Go on here')
      await until(page, '[data-testid=interference]')
      await other.close()
    },
  },
]

const inspector: readonly View[] = [
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

const sessions: readonly View[] = [
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

const dialogs: readonly View[] = [
  { name: 'settings-scripted', make: settings },
  ...['Your own key', 'Model proxy', 'Local server', 'On a server'].map((choice) => ({
    name: `settings-${choice.toLowerCase().replaceAll(' ', '-')}`,
    async make(page: Page) {
      await settings(page)
      await click(page.getByText(choice, { exact: true }))
    },
  })),
  {
    name: 'settings-agent',
    async make(page) {
      await settings(page)
      await click(page.getByText('Local server'))
      await tab(page, 'Agent')
    },
  },
  {
    name: 'view-code',
    async make(page) {
      await settings(page)
      await click(page.getByText('Your own key'))
      await tab(page, 'View code')
      await settle(page, 100)
    },
  },
  {
    name: 'key-banner',
    async make(page) {
      await settings(page)
      await click(page.getByText('Your own key'))
      await page.getByLabel('Key', { exact: true }).fill('sk-ant-an-example')
      await page.getByLabel('Key', { exact: true }).blur()
      await press(page, 'Apply')
    },
  },
  { name: 'palette', make: (page) => key(page, 'Control+k') },
  {
    name: 'palette-filtered',
    async make(page) {
      await key(page, 'Control+k')
      await page.getByRole('combobox', { name: 'Command' }).fill('show')
      await settle(page, 100)
    },
  },
  { name: 'keys', make: (page) => command(page, 'all keys') },
]

const troubles: readonly View[] = [
  {
    name: 'no-network',
    async make(page) {
      await useLocalServer(page, 'http://127.0.0.1:9999/v1')
      await say(page, 'Are you there?')
      await ends(page, 500)
    },
  },
  {
    name: 'no-key',
    async make(page) {
      await settings(page)
      await click(page.getByText('Your own key'))
      await press(page, 'Apply')
      await say(page, 'Are you there?')
      await ends(page, 500)
    },
  },
  {
    name: 'import-refused',
    async make(page) {
      await finish(page, 'Text')
      await page
        .getByLabel('File to import')
        .setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('{"loops": 5}') })
      await until(page, '.warning')
    },
  },
  {
    name: 'handoff-refused',
    async make(page) {
      await finish(page, 'Text')
      await press(page, 'To server')
      await until(page, '.warning')
    },
  },
  {
    name: 'offline',
    async make(page) {
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
      await page.context().setOffline(true)
      await page.reload()
      await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
      await finish(page, 'Thinking and tools')
    },
  },
]

export const views: readonly View[] = [...opening, ...conversation, ...inspector, ...sessions, ...dialogs, ...troubles]
