import { expect, type Page, test } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { crash } from '../page/browser.ts'
import { piece, streamed } from '../page/chunks.ts'
import { serveModel } from '../page/model-server.ts'
import { chooseLocalServer, command, composer, quickPage, repeat, say } from '../page/playground-page.ts'

const words = 'These words must not be lost.'
const attached = (page: Page) => page.getByTestId('attached')

async function attach(page: Page, name: string): Promise<void> {
  await page.getByLabel('Files to attach').setInputFiles([{ name, mimeType: 'text/plain', buffer: Buffer.from('hello') }])
  await expect(attached(page).filter({ hasText: name })).toBeVisible()
}

test('what is not said yet is there again after a reload: words, files, and what is said instead of a message', async ({ page }) => {
  await page.goto(quickPage)
  await repeat(page, 'Before.')
  await page.getByTestId('message-user').hover()
  await page.getByRole('button', { name: 'Edit and send again' }).click()
  await page.getByRole('textbox', { name: 'Edited message' }).fill('Said otherwise.')
  await composer(page).fill(words)
  await attach(page, 'a.txt')
  await page.reload()
  await expect(composer(page)).toHaveValue(words)
  await expect(attached(page)).toHaveText(/a\.txt/)
  await expect(page.getByRole('textbox', { name: 'Edited message' })).toHaveValue('Said otherwise.')

  await page.getByRole('button', { name: 'Cancel' }).click()
  await composer(page).press('Enter')
  await expect(page.getByTestId('message-user').last()).toContainText(words)
  await page.reload()
  await expect(page.getByTestId('message-user').last()).toContainText(words)
  await expect(composer(page)).toHaveValue('')
  await expect(attached(page)).toHaveCount(0)
  await expect(page.getByRole('textbox', { name: 'Edited message' })).toHaveCount(0)
})

test('a tab that is closed, or crashes, keeps the draft: its address leads back to it', async ({ page, context }) => {
  await page.goto(quickPage)
  await repeat(page, 'Before.')
  await composer(page).fill(words)
  await attach(page, 'a.txt')
  const address = page.url()
  await crash(page)
  const next = await context.newPage()
  await next.goto(address)
  await expect(composer(next)).toHaveValue(words)
  await expect(attached(next)).toHaveText(/a\.txt/)
})

test('what waits in the queue of a run is in the composer when the page ends before it was heard', async ({ page }) => {
  const silent = () => streamed(piece({ role: 'assistant', content: 'Half an answer' }), true)
  await using service = await serveModel(openai, silent)
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
  await say(page, 'A question.')
  await expect(page.getByText('Half an answer')).toBeVisible()
  await attach(page, 'a.txt')
  await say(page, words)
  await expect(page.getByTestId('queued')).toContainText(words)
  await composer(page).fill('And this.')
  await page.reload()
  await expect(composer(page)).toHaveValue(`${words}\nAnd this.`)
  await expect(attached(page)).toHaveText(/a\.txt/)
  await expect(page.getByTestId('broken-off')).toBeVisible()
})

test('what was written in a dialog is there when it is opened again, and when what it asks for cannot be', async ({ page }) => {
  const code = 'return "many lines of code"'
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: 'http://127.0.0.1:9/v1', model: 'test-model' })
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Own tools' }).click()
  await page.getByRole('button', { name: 'Add a tool' }).click()
  await page.getByRole('textbox', { name: 'Code' }).fill(code)
  await page.keyboard.press('Escape')
  await page.getByTestId('model-button').click()
  await expect(page.getByText('These changes were not applied yet.')).toBeVisible()
  await page.getByRole('tab', { name: 'Agent', exact: true }).click()
  await page.getByRole('textbox', { name: 'Schema of the answer' }).fill('{"type":')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('The schema of the answer is no JSON')
  await expect(page.getByRole('textbox', { name: 'Schema of the answer' })).toHaveValue('{"type":')
  await page.getByRole('textbox', { name: 'Schema of the answer' }).fill('')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Own tools' }).click()
  await expect(page.getByRole('textbox', { name: 'Code' })).toHaveValue(code)
  await page.getByRole('textbox', { name: 'Code' }).fill('return 2')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Own tools' }).click()
  await expect(page.getByRole('textbox', { name: 'Code' })).toHaveValue(code)
})

test('the words of a comparison are the draft until they are compared', async ({ page }) => {
  await page.goto(quickPage)
  await composer(page).fill('Compare this.')
  await command(page, 'Compare')
  await page.getByRole('textbox', { name: 'Prompt' }).fill(words)
  await page.keyboard.press('Escape')
  await expect(composer(page)).toHaveValue(words)
  await command(page, 'Compare')
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await expect(page.getByTestId('message-user')).toContainText(words)
  await expect(composer(page)).toHaveValue('')
})

test('a draft survives its conversation, which another tab deletes', async ({ page, context }) => {
  await page.goto(quickPage)
  await repeat(page, 'Before.')
  await composer(page).fill(words)
  await attach(page, 'a.txt')
  const other = await context.newPage()
  await other.goto(quickPage)
  const row = other.getByTestId('stored-session').filter({ hasText: 'Before.' })
  await row.hover()
  await row.getByRole('button', { name: /^Delete “/ }).click()
  await row.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByTestId('interference').getByRole('button', { name: 'New conversation' }).click()
  await expect(composer(page)).toHaveValue(words)
  await expect(attached(page)).toHaveText(/a\.txt/)
  await page.reload()
  await expect(composer(page)).toHaveValue(words)
  await expect(attached(page)).toHaveText(/a\.txt/)
})

test('an address of a conversation that is not there says so; the page works', async ({ page }) => {
  await page.goto(`${quickPage}#no-such-conversation`)
  await expect(page.getByTestId('notice')).toContainText('There is no conversation of this address in this browser')
  await repeat(page, words)
  // A new one that was not written to has an address too.
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await page.reload()
  await expect(composer(page)).toBeVisible()
  await expect(page.getByTestId('notice')).toHaveCount(0)
})

test('what a filter refuses comes back into the composer, and why stands in sight, also on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 700 })
  await page.goto(quickPage)
  await say(page, 'Note that the password of the safe is walrus.')
  await expect(page.getByTestId('rejection')).toBeInViewport()
  await expect(composer(page)).toHaveValue('Note that the password of the safe is walrus.')
})

test('a key that is missing is asked for, with the way to the settings; the words stay', async ({ page }) => {
  await page.goto(quickPage)
  await page.getByTestId('model-button').click()
  await page.getByText('Your own key').click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await say(page, words)
  await expect(page.getByTestId('ending')).toContainText('There is no key in this page')
  await expect(page.getByTestId('message-user')).toContainText(words)
  await page.getByTestId('ending').getByRole('button', { name: 'Open settings' }).click()
  await expect(page.getByRole('dialog', { name: 'Settings' })).toBeVisible()
})
