import { readFileSync } from 'node:fs'
import { expect, type Locator, type Page, test } from 'playwright/test'
import { violations } from '../accessible/axe.ts'
import { main, watched } from '../page/browser.ts'
import { composer, quickPage, say, status } from '../page/playground-page.ts'

let trouble: () => Promise<string[]>

test.beforeEach(async ({ page }) => {
  trouble = watched(page)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.goto(quickPage)
})

test.afterEach(async () => expect(await trouble()).toEqual([]))

interface Given {
  name: string
  mimeType: string
  text: string
}

/** As long as what a session keeps beside its log. */
const pdf: Given = { name: 'report.pdf', mimeType: 'application/pdf', text: `%PDF-1.4\n${'% '.repeat(50_000)}\n%%EOF\n` }
const chips = (page: Page) => page.getByTestId('attached')
const sent = (page: Page) => page.getByTestId('message-user').last().getByTestId('media')

/** Files come to an element by an event, as a browser tells it of them. */
async function bring(target: Locator, event: 'drop' | 'paste', { name, mimeType, text }: Given): Promise<void> {
  await target.evaluate(
    (element, [type, name, mimeType, text]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], name, { type: mimeType }))
      const eventInit = { bubbles: true, cancelable: true }
      element.dispatchEvent(
        type === 'paste'
          ? new ClipboardEvent(type, { ...eventInit, clipboardData: transfer })
          : new DragEvent(type, { ...eventInit, dataTransfer: transfer }),
      )
    },
    [event, name, mimeType, text] as const,
  )
}

test('sends dropped, pasted and picked files with the prompt and restores them', main, async ({ page }) => {
  await bring(page.getByRole('log'), 'drop', pdf)
  await expect(chips(page)).toHaveText([/report\.pdf/])
  await bring(composer(page), 'paste', { name: 'notes.txt', mimeType: 'text/plain', text: 'Wind: east.' })
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  await page.getByLabel('Files to attach').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png })
  await expect(chips(page)).toHaveText([/report\.pdf/, /notes\.txt/, /picture\.png/])
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Remove notes.txt' }).click()
  await expect(chips(page)).toHaveCount(2)
  await say(page, 'What is this?')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(chips(page)).toHaveCount(0)
  await expect(page.getByTestId('message-assistant')).toContainText('report.pdf (application/pdf)')
  await expect(sent(page)).toHaveText([/report\.pdf/, /picture\.png/])
  await page.reload()
  await expect(sent(page)).toHaveText([/report\.pdf/, /picture\.png/])
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download report.pdf' }).click()
  expect(readFileSync(await (await saving).path(), 'latin1')).toBe(pdf.text)
})

test('sends a file without text', async ({ page }) => {
  await bring(composer(page), 'drop', pdf)
  await expect(chips(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(sent(page)).toHaveCount(1)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})

test('explains a rejected file and keeps valid ones', async ({ page }) => {
  await bring(page.getByRole('log'), 'drop', { name: 'all.zip', mimeType: 'application/zip', text: 'PK' })
  await expect(page.getByRole('alert')).toContainText('“all.zip” is of the type application/zip')
  await bring(page.getByRole('log'), 'drop', { name: 'empty.txt', mimeType: 'text/plain', text: '' })
  await expect(page.getByRole('alert')).toContainText('“empty.txt” is empty')
  expect(await violations(page)).toEqual([])
  await bring(page.getByRole('log'), 'drop', { ...pdf, text: '<script>window.hacked = 1</script>' })
  await expect(page.getByRole('alert')).toContainText('application/pdf')
  await expect(chips(page)).toHaveCount(0)
  await say(page, 'Nothing, then.')
  await expect(page.getByTestId('message-user')).toHaveCount(1)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})

test('returns a queued file to the composer with its text', async ({ page }) => {
  await page.goto('/')
  await page.getByRole('button', { name: 'Text', exact: true }).click()
  await expect(page.getByTestId('message-assistant')).toBeVisible()
  await bring(composer(page), 'drop', pdf)
  await expect(chips(page)).toHaveCount(1)
  await say(page, 'And this?')
  await expect(page.getByTestId('queued')).toContainText('1 file')
  await page.getByRole('button', { name: 'Edit “And this?”' }).click()
  await expect(composer(page)).toHaveValue('And this?')
  await expect(chips(page)).toHaveCount(1)
})

test('keeps the file when its message is edited', async ({ page }) => {
  await bring(composer(page), 'drop', pdf)
  await expect(chips(page)).toHaveCount(1)
  await say(page, 'First.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await page.getByRole('button', { name: 'Edit and send again' }).click()
  await page.getByRole('textbox', { name: 'Edited message' }).fill('Second.')
  await page.getByRole('button', { name: 'Send instead' }).click()
  await expect(page.getByText('You wrote: “Second.”')).toBeVisible()
  await expect(sent(page)).toHaveText([/report\.pdf/])
})
