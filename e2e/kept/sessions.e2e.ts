import type { BrowserContext, Page } from 'playwright/test'
import { browserName, crash, everywhere, expect, mainEverywhere, test } from '../page/browser.ts'
import { finish, pick, quickPage, repeat, status } from '../page/playground-page.ts'

const messages = (page: Page) => page.getByRole('log', { name: 'Conversation' }).getByRole('article')
const addressOf = (page: Page) => page.evaluate(() => location.href)
const stored = (page: Page) => page.getByTestId('stored-session')

async function newTab(context: BrowserContext, address = '/'): Promise<Page> {
  const page = await context.newPage()
  await page.goto(address)
  return page
}

test('restores and continues a conversation after a reload', mainEverywhere, async ({ page }, info) => {
  await page.goto(quickPage)
  await finish(page, 'Thinking and tools')
  const before = await messages(page).allInnerTexts()
  await page.reload()
  await expect(messages(page)).toHaveCount(before.length)
  await expect(page.getByTestId('tool-card')).toHaveCount(2)
  for (const card of await page.getByTestId('tool-card').all()) await expect(card).toHaveAttribute('data-status', 'done')
  await expect(page.getByText('The coldest entry is Tuesday with -17 °C.')).toBeVisible()
  await expect(page.getByTestId('interference')).toHaveCount(0)
  await page.screenshot({ path: info.outputPath('after-reload.png') })
  await repeat(page, 'Go on.')
  await page.reload()
  await expect(messages(page)).toHaveCount(before.length + 2)
  await expect(stored(page)).toHaveCount(1)
})

test('keeps text across a reload during a run and resumes it', everywhere, async ({ page }, info) => {
  // So slow that it is in the middle for as long as a busy machine takes to reload.
  await page.goto('/?pace=4')
  await pick(page, 'Thinking and tools')
  await expect(page.getByTestId('tool-card').filter({ hasText: 'measure_drift' })).toHaveAttribute('data-status', 'running')
  await page.reload()
  await expect(page.getByTestId('message-user')).toHaveText(/Which day was the coldest/)
  await expect(page.getByText('I will look into the logbook and take bearings.')).toBeVisible()
  await expect(page.getByTestId('broken-off')).toBeVisible()
  await page.screenshot({ path: info.outputPath('broken-off.png') })
  await page.getByRole('button', { name: 'Go on', exact: true }).click()
  await expect(page.getByText(/The coldest entry is/)).toBeVisible()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(page.getByTestId('broken-off')).toHaveCount(0)
})

/** What can be read of the answer that is being written. */
const answer = (page: Page) => page.getByTestId('message-assistant').last().locator('.text').first()

test('restores text received a second before a tab crash', everywhere, async ({ context }) => {
  test.skip(browserName === 'webkit', 'WebKitWebDriver ends the session, and all that it stores, with the page')
  const page = await newTab(context, '/?pace=4')
  await pick(page, 'Text')
  await expect(answer(page)).toContainText('The Fram')
  const read = await answer(page).innerText()
  const address = await addressOf(page)
  // A hundred letters come in a second and a half.
  await expect.poll(async () => (await answer(page).innerText()).length).toBeGreaterThan(read.length + 100)
  await crash(page)
  const next = await newTab(context, address)
  await expect(next.getByTestId('broken-off')).toBeVisible()
  await expect(answer(next)).toContainText(read.trim())
})

/** Without the marks of Markdown, which go once what they mark is whole. */
const plain = (text: string): string => text.replaceAll('*', '').trim()

test('keeps the start of a response on an early reload and marks it interrupted', everywhere, async ({ page }) => {
  await page.goto('/?pace=4')
  // The very first answer of a page may come before the store does.
  await expect(page.getByText('No conversations yet.')).toBeVisible()
  await page.evaluate(() =>
    addEventListener('beforeunload', () => {
      const read = document.querySelector<HTMLElement>('[data-testid=message-assistant] .text')?.innerText ?? ''
      sessionStorage.setItem('read', read)
    }),
  )
  await pick(page, 'Text')
  await expect(answer(page)).toBeVisible()
  await page.reload()
  const read = await page.evaluate(() => sessionStorage.getItem('read') ?? '')
  expect(read).not.toBe('')
  await expect(page.getByTestId('broken-off')).toBeVisible()
  // A browser may end a page before its last writes, and what has come may not be drawn yet: either may be the longer one.
  const kept = plain(await answer(page).innerText())
  expect(kept).not.toBe('')
  const common = Math.min(kept.length, plain(read).length)
  expect(kept.slice(0, common)).toBe(plain(read).slice(0, common))
})

test('restores a conversation after a tab crash', everywhere, async ({ context }, info) => {
  test.skip(browserName === 'webkit', 'WebKitWebDriver ends the session, and all that it stores, with the page')
  const page = await newTab(context)
  await finish(page, 'Text')
  const before = await messages(page).allInnerTexts()
  const address = await addressOf(page)
  await pick(page, 'Failure and retry')
  await expect(page.getByTestId('message-user')).toHaveCount(2)
  await expect(page.getByTestId('tool-card').first()).toBeVisible()
  await crash(page)
  const next = await newTab(context, address)
  await expect(next.getByTestId('message-user')).toHaveCount(2)
  // Markdown is a part of the page that comes a little later.
  await expect.poll(async () => (await messages(next).allInnerTexts()).slice(0, before.length)).toEqual(before)
  await expect(next.getByTestId('interference')).toHaveCount(0)
  await next.screenshot({ path: info.outputPath('after-crash.png') })
  await repeat(next, 'Go on.')
  await expect(next.getByTestId('message-user')).toHaveCount(3)
})

test('lists conversations newest first and opens, deletes and creates them by keyboard', mainEverywhere, async ({ page }, info) => {
  await page.goto(quickPage)
  await finish(page, 'Text')
  await page.getByRole('button', { name: 'New', exact: true }).press('Enter')
  await expect(messages(page)).toHaveCount(0)
  await page.getByRole('textbox', { name: 'Message' }).fill('What can you do?')
  await page.getByRole('textbox', { name: 'Message' }).press('Enter')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(stored(page)).toHaveText([/What can you do\?/, /Tell me about the ship Fram/])
  await page.screenshot({ path: info.outputPath('list.png') })
  await stored(page).nth(1).getByRole('button').first().press('Enter')
  await expect(page.getByText('you can walk her deck.')).toBeVisible()
  await expect(stored(page).nth(1).getByRole('button').first()).toHaveAttribute('aria-current', 'page')
  // The one that was left is nobody's: this tab had it.
  await expect(stored(page).filter({ hasText: 'in another tab' })).toHaveCount(0)
  await page.goBack()
  await expect(page.getByText('You wrote: “What can you do?”')).toBeVisible()
  await page.getByRole('button', { name: 'Delete “What can you do?”' }).press('Enter')
  await expect(page.getByRole('button', { name: 'Delete', exact: true })).toBeFocused()
  await page.screenshot({ path: info.outputPath('delete.png') })
  await page.keyboard.press('Enter')
  await expect(stored(page)).toHaveText([/Tell me about the ship Fram/])
  await expect(page.getByRole('button', { name: 'New', exact: true })).toBeFocused()
  await expect(messages(page)).toHaveCount(0)
})

test('reports that another tab continued its conversation and takes it back', everywhere, async ({ context }, info) => {
  const first = await newTab(context, quickPage)
  await repeat(first, 'Hello?')
  const second = await newTab(context, await addressOf(first))
  await expect(second.getByText('You wrote: “Hello?”')).toBeVisible()
  await expect(second.getByTestId('interference')).toContainText('continues in another tab')
  await expect(second.getByRole('textbox', { name: 'Message' })).toBeDisabled()
  await second.getByRole('button', { name: 'Go on here' }).click()
  await expect(second.getByTestId('interference')).toHaveCount(0)
  await expect(first.getByTestId('interference')).toContainText('continues in another tab')
  await first.screenshot({ path: info.outputPath('taken-over.png') })
  await repeat(second, 'And here?')
  await first.getByRole('button', { name: 'Go on here' }).click()
  await expect(first.getByText('You wrote: “And here?”')).toBeVisible()
  await repeat(first, 'Back again.')
  await expect(second.getByTestId('interference')).toBeVisible()
  await second.getByRole('button', { name: 'New', exact: true }).click()
  await expect(stored(second).first()).toContainText('in another tab')
  await second.screenshot({ path: info.outputPath('in-another-tab.png') })
  await second.getByRole('button', { name: 'Delete “Hello?”' }).click()
  await second.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect(first.getByTestId('interference')).toContainText('deleted')
  await first.screenshot({ path: info.outputPath('deleted.png') })
})

test('stops a run taken over by another tab and reports it', async ({ context }) => {
  const first = await newTab(context)
  await pick(first, 'Text')
  await expect(first.getByTestId('message-assistant')).toContainText('The Fram')
  const second = await newTab(context, await addressOf(first))
  await second.getByRole('button', { name: 'Go on here' }).click()
  await expect(first.getByTestId('interference')).toBeVisible()
  await expect(status(first)).not.toHaveAttribute('data-status', 'running')
  await repeat(second, 'Go on.')
})

test('shows the list as a separate pane on a phone without horizontal scrolling', async ({ page }, info) => {
  await page.setViewportSize({ width: 400, height: 800 })
  await page.goto(quickPage)
  await finish(page, 'Text')
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeHidden()
  await page.getByRole('button', { name: 'Conversations', exact: true }).click()
  await expect(stored(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'Delete “Tell me about the ship Fram.”' }).click()
  await page.screenshot({ path: info.outputPath('phone-list.png') })
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(overflow).toBe(0)
  await page.getByRole('button', { name: 'Keep' }).press('Enter')
  await expect(page.getByRole('button', { name: 'Delete “Tell me about the ship Fram.”' })).toBeFocused()
  await stored(page).getByRole('button').first().click()
  await expect(page.getByText('you can walk her deck.')).toBeVisible()
  await page.screenshot({ path: info.outputPath('phone-conversation.png') })
})
