import type { Page } from 'playwright'
import { click, ends, finish, play, press, say, settle, until } from '../steps.ts'
import type { View } from '../view.ts'

/** The middle pane: what is said, and what happens between. */
export const conversation: readonly View[] = [
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
