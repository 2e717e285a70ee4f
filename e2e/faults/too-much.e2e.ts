import { expect, type Page, test } from 'playwright/test'
import { violations } from '../accessible/axe.ts'
import { chooseLocalServer, composer, quickPage, say, storesFiles } from '../page/playground-page.ts'

/** Drops so many files on what `selector` means. */
async function drop(page: Page, selector: string, count: number, [extension, type]: readonly [string, string]): Promise<void> {
  await page.locator(selector).evaluate(
    (element, [count, extension, type]) => {
      const dataTransfer = new DataTransfer()
      for (let at = 0; at < count; at++) dataTransfer.items.add(new File([`file ${at}`], `file-${at}.${extension}`, { type }))
      element.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }))
    },
    [count, extension, type] as const,
  )
}

const text = ['txt', 'text/plain'] as const
const archive = ['zip', 'application/zip'] as const

for (const colorScheme of ['light', 'dark'] as const) {
  test(`keeps room to write with a hundred files and fifty rejected ones (${colorScheme})`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(quickPage)
    await expect(composer(page)).toBeVisible()
    await drop(page, '.conversation-pane', 100, text)
    await expect(page.getByTestId('attached')).toHaveCount(100)
    await expect(composer(page)).toBeInViewport({ ratio: 1 })
    await drop(page, '.conversation-pane', 50, archive)
    const refused = page.getByRole('alert')
    await expect(refused).toHaveCount(1)
    await expect(refused.getByRole('listitem')).toHaveCount(50)
    await expect(composer(page)).toBeInViewport({ ratio: 1 })
    expect(await violations(page)).toEqual([])
    await refused.getByRole('button', { name: 'Dismiss' }).press('Enter')
    await expect(refused).toHaveCount(0)
    await expect(composer(page)).toBeFocused()
    await expect(page.getByTestId('attached')).toHaveCount(100)
  })
}

test('sends a very long pasted text as a file and restores it after reload', async ({ page }) => {
  await page.goto(quickPage)
  await expect(composer(page)).toBeVisible()
  await composer(page).evaluate((field) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', 'word '.repeat(1_200_000))
    field.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }))
  })
  const attached = page.getByTestId('attached')
  await expect(attached).toHaveText(/pasted\.txt.*6\.0/)
  await storesFiles(page)
  await page.reload()
  await expect(attached).toHaveText(/pasted\.txt.*6\.0/)
  await say(page, 'What is this?')
  await expect(page.getByTestId('message-user').getByTestId('media')).toContainText('pasted.txt')
})

test('warns that unstored text and settings end with the page', async ({ page }) => {
  await page.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    }
  })
  await page.goto(quickPage)
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill('What is this?')
  await expect(page.locator('.composer')).toContainText('Your draft is lost when this page closes')
  await field.fill('')
  await expect(page.locator('.composer')).not.toContainText('ends with this page')
  await chooseLocalServer(page, { address: 'http://127.0.0.1:9/v1', model: 'test-model' })
  await expect(page.getByTestId('notice')).toContainText('These settings last until you close this page')
  expect(await violations(page)).toEqual([])
})

test('ignores a file dropped outside the conversation', async ({ page }) => {
  await page.goto(quickPage)
  await expect(page.getByRole('tab', { name: 'Trace' })).toBeVisible()
  const isTaken = await page.locator('.inspector').evaluate((pane) => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['hello'], 'a.txt', { type: 'text/plain' }))
    const eventInit = { bubbles: true, cancelable: true, dataTransfer }
    return ['dragover', 'drop'].map((type) => !pane.dispatchEvent(new DragEvent(type, eventInit)))
  })
  expect(isTaken).toEqual([true, true])
})
