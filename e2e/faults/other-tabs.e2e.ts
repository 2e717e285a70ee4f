import type { BrowserContext, Page } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { everywhere, expect, mainEverywhere, test } from '../page/browser.ts'
import { piece, streamed } from '../page/chunks.ts'
import { serveModel } from '../page/model-server.ts'
import { card, chooseLocalServer, composer, pick, quickPage, repeat, say, status } from '../page/playground-page.ts'

const addressOf = (page: Page) => page.evaluate(() => location.href)
const interference = (page: Page) => page.getByTestId('interference')
const goOnHere = (page: Page) => interference(page).getByRole('button', { name: 'Go on here' })

async function tabAt(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(address)
  return page
}

test('shows a pending call once after a takeover, and the first tab reports it', mainEverywhere, async ({ page, context }) => {
  await page.goto(quickPage)
  await pick(page, 'Approval')
  await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
  await composer(page).fill('not said yet')
  const other = await tabAt(context, await addressOf(page))
  await expect(interference(other)).toContainText('continues in another tab')
  await expect(other.getByTestId('tool-card')).toHaveCount(1)
  await expect(other.getByTestId('broken-off')).toHaveCount(0)
  await goOnHere(other).click()
  await expect(interference(page)).toContainText('continues in another tab')
  // How the run ended here says nothing.
  await expect(page.getByTestId('ending')).toHaveCount(0)
  await expect(page.getByTestId('announcer')).toHaveText('')
  await expect(composer(page)).toHaveValue('not said yet')
  await expect(other.getByTestId('tool-card')).toHaveCount(1)
  await other.getByRole('button', { name: 'Approve' }).click()
  await expect(other.getByText('The tool answered: Wrote 53 bytes')).toBeVisible()
})

test('accepts one of two simultaneous prompts and keeps both texts', mainEverywhere, async ({ page, context }) => {
  await page.goto(quickPage)
  await repeat(page, 'Before.')
  const address = await addressOf(page)
  // Nobody holds it.
  await page.getByRole('button', { name: 'New', exact: true }).click()
  const tabs = [await tabAt(context, address), await tabAt(context, address)]
  for (const [at, tab] of tabs.entries()) await composer(tab).fill(`From tab ${at + 1}.`)
  await Promise.all(tabs.map((tab) => composer(tab).press('Enter')))
  const notices = () => Promise.all(tabs.map((tab) => interference(tab).count()))
  await expect.poll(async () => (await notices()).some((count) => count === 1)).toBe(true)
  const drafts = () => Promise.all(tabs.map((tab) => tab.evaluate(() => document.querySelector('textarea')?.value)))
  await expect.poll(async () => (await drafts()).filter((words) => words !== '').length).toBe(1)
  const [off, on] = (await drafts())[0] === '' ? [1, 0] : [0, 1]
  const [loser, winner] = [tabs[off], tabs[on]]
  if (loser === undefined || winner === undefined) throw new Error('There are two tabs.')
  await expect(winner.getByText(`You wrote: “From tab ${on + 1}.”`)).toBeVisible()
  await expect(status(winner)).toHaveAttribute('data-status', 'completed')
  // The other one may say so too, where both had the conversation in turn: it can be taken back there as well.
  await expect(interference(loser)).toBeVisible()
  await expect(loser.getByTestId('ending')).toHaveCount(0)
  await expect(composer(loser)).toHaveValue(`From tab ${off + 1}.`)
  await goOnHere(loser).click()
  await expect(loser.getByText(`You wrote: “From tab ${on + 1}.”`)).toBeVisible()
  await composer(loser).press('Enter')
  await expect(loser.getByText(`You wrote: “From tab ${off + 1}.”`)).toBeVisible()
})

test('renames a running conversation only in the tab that runs it', everywhere, async ({ page, context }) => {
  let end = (): void => {}
  const rest = new Promise<void>((resolve) => {
    end = resolve
  })
  const bytes = (text: string) => new TextEncoder().encode(text)
  const body = () =>
    new ReadableStream({
      async start(controller) {
        controller.enqueue(bytes(piece({ role: 'assistant', content: 'The first half' })))
        await rest
        controller.enqueue(bytes(`${piece({ content: ' and the second.' })}${piece({}, 'stop')}data: [DONE]\n\n`))
        controller.close()
      },
    })
  await using service = await serveModel(openai, () => new Response(body(), { headers: streamed('').headers }))
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
  await say(page, 'A question.')
  await expect(page.getByText('The first half')).toBeVisible()
  const rename = async (tab: Page, before: string, name: string) => {
    await tab.getByRole('button', { name: `Rename “${before}”` }).press('Enter')
    await tab.getByRole('textbox', { name: 'Name of the conversation' }).fill(name)
    await tab.getByRole('textbox', { name: 'Name of the conversation' }).press('Enter')
  }
  await rename(page, 'A question.', 'A good name')
  await expect(page.getByTestId('stored-session')).toContainText('A good name')
  const other = await tabAt(context, quickPage)
  await rename(other, 'A good name', 'A bad name')
  await expect(other.getByTestId('notice')).toContainText('Not renamed: Another tab has this conversation open. Rename it there.')
  end()
  await expect(page.getByText('The first half and the second.')).toBeVisible()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await page.reload()
  await expect(page.getByText('The first half and the second.')).toBeVisible()
  await expect(page.getByTestId('stored-session')).toContainText('A good name')
})
