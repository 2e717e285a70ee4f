import type { Page } from 'playwright'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { useAgentServer } from '../services.ts'
import { click, ends, finish, play, press, say, settle, until } from '../steps.ts'
import type { View } from '../view.ts'

const words = 'Write down what the ice did today, with the bearings of noon and six.'
const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
const helpful = () => ({ model: scripted(() => ({ text: 'It drifts south, four miles a day.' })) })

/** A server answers one question. Resolves with what ends it. */
async function answeredByServer(...[page, made]: Parameters<View['make']>): Promise<() => Promise<void>> {
  const end = await useAgentServer(page, made, helpful)
  await say(page, 'How does the ice drift?')
  await until(page, '.message.assistant')
  await settle(page)
  return end
}

/** As a browser refuses what is to be stored when the disk is full. */
async function fillTheDisk(page: Page): Promise<void> {
  await page.evaluate(() => {
    const refuse = () => {
      throw new DOMException('There is no room left on the disk.', 'QuotaExceededError')
    }
    Object.assign(IDBObjectStore.prototype, { add: refuse, put: refuse })
  })
}

/** Words that could not be sent, and what stands in the composer. */
export const sending: readonly View[] = [
  {
    name: 'storage-full',
    async make(page) {
      await finish(page, 'Text')
      await fillTheDisk(page)
      await say(page, words)
      await until(page, '[data-testid=notice], [data-testid=ending]', 500)
      await settle(page)
    },
  },
  {
    name: 'server-gone',
    async make(page, made) {
      const end = await answeredByServer(page, made)
      await end()
      await say(page, words)
      await until(page, '[data-testid=notice], [data-testid=ending]', 500)
      await settle(page)
    },
  },
  {
    name: 'server-and-offline',
    async make(page, made) {
      await answeredByServer(page, made)
      await page.context().setOffline(true)
      await say(page, words)
      await page.clock.runFor(30_000)
      await settle(page)
    },
  },
  {
    name: 'on-server',
    async make(page, made) {
      await answeredByServer(page, made)
    },
  },
  {
    name: 'draft-after-reload',
    async make(page) {
      await finish(page, 'Text')
      await press(page, 'Edit and send again')
      await page.getByRole('textbox', { name: 'Edited message' }).fill('Tell me about the ship Gjøa.')
      await message(page).fill(words)
      await page.reload()
      await until(page, '.message.assistant')
      await settle(page)
    },
  },
  {
    name: 'long-draft',
    async make(page) {
      await finish(page, 'Text')
      await message(page).fill(Array.from({ length: 30 }, (_, at) => `${at + 1}. ${words}`).join('\n'))
      await settle(page, 100)
    },
  },
  {
    name: 'long-prompt',
    async make(page) {
      await say(page, Array.from({ length: 60 }, (_, at) => `${at + 1}. ${words}`).join('\n'))
      await ends(page)
      await page.getByTestId('transcript').press('Home')
      await settle(page, 100)
    },
  },
  {
    name: 'address-of-nothing',
    async make(page) {
      await page.goto(`${page.url().split('#')[0]}#no-such-conversation`)
      await page.reload()
      await until(page, '[data-testid=notice]')
      await settle(page)
    },
  },
  {
    name: 'deleted-elsewhere',
    async make(page) {
      await finish(page, 'Text')
      await message(page).fill(words)
      const other = await page.context().newPage()
      await other.goto(page.url().split('#')[0] ?? '')
      await until(other, '[data-testid=stored-session]')
      await other.getByTestId('stored-session').first().hover()
      await click(other.getByRole('button', { name: /^Delete “/ }))
      await press(other, 'Delete')
      await until(page, '[data-testid=interference]')
      await other.close()
    },
  },
  {
    name: 'running-in-another-tab',
    pane: 'sessions',
    async make(page) {
      await finish(page, 'Text')
      await press(page, 'New')
      const other = await page.context().newPage()
      await other.goto(page.url().split('#')[0] ?? '')
      await until(other, '.scenario-card:enabled')
      await play(other, 'Thinking and tools', '.tool-progress')
      await page.reload()
      await until(page, '.badge:has-text("another tab")', 500)
      await click(page.locator('.pick').filter({ hasText: 'another tab' }))
      await until(page, '[data-testid=interference]')
      await settle(page)
    },
  },
]
