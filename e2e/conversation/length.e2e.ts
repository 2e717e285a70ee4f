import { longHistory } from '../../test/harness/long-history.ts'
import { expect, test } from '../page/browser.ts'
import { quickPage, say, status } from '../page/playground-page.ts'

test('reveals content outside the DOM to the browser search', async ({ page }) => {
  await page.goto(quickPage)
  const file = { name: 'long.jsonl', mimeType: 'text/plain', buffer: Buffer.from(await longHistory(400)) }
  await page.getByLabel('File to import').setInputFiles(file)
  const question = page.getByTestId('message-user').filter({ hasText: 'of day 3?' })
  const hidden = page.locator('[data-found][hidden="until-found"]').filter({ hasText: 'of day 3?' })
  await expect(hidden).toHaveCount(1)
  await expect(question).toHaveCount(0)
  // As the browser does with a match, before it shows it; no driver can press its keys.
  await hidden.evaluate((element) => {
    element.dispatchEvent(new Event('beforematch', { bubbles: true }))
    element.removeAttribute('hidden')
  })
  await expect(question).toBeInViewport()
  await expect(hidden).toHaveCount(0)
  // What was there before can be found now.
  await expect(page.locator('[data-found][hidden="until-found"]').filter({ hasText: 'of day 200?' })).toHaveCount(1)
})

test('renders only visible messages of a long conversation and keeps edits', async ({ page }) => {
  await page.goto(quickPage)
  const file = { name: 'long.jsonl', mimeType: 'text/plain', buffer: Buffer.from(await longHistory(400)) }
  await page.getByLabel('File to import').setInputFiles(file)
  const messages = page.getByTestId('transcript').getByRole('article')
  const question = (day: number) => page.getByTestId('message-user').filter({ hasText: `of day ${day}?` })
  await expect(question(200)).toBeInViewport()
  expect(await messages.count()).toBeLessThan(100)

  const transcript = page.getByTestId('transcript')
  await transcript.press('Home')
  await expect(question(1)).toBeInViewport()
  expect(await messages.count()).toBeLessThan(100)
  await question(1).hover()
  await question(1).getByRole('button', { name: 'Edit and send again' }).click()
  await page.getByRole('textbox', { name: 'Edited message' }).fill('Words that must not be lost.')
  await transcript.press('End')
  await expect(question(200)).toBeInViewport()
  await expect(question(1)).toHaveCount(0)
  await transcript.press('Home')
  await expect(page.getByRole('textbox', { name: 'Edited message' })).toHaveValue('Words that must not be lost.')

  // What is read stays in its place while more comes in, and while what is above it turns out to be taller.
  await transcript.press('End')
  await expect(question(200)).toBeInViewport()
  const read = await transcript.evaluate(async (box) => {
    box.scrollTop -= 5 * box.clientHeight
    // Until heights that were guessed are measured, and nothing moves.
    for (let last = Number.NaN, still = 0; still < 3; last = box.scrollHeight - box.scrollTop) {
      await new Promise(requestAnimationFrame)
      still = box.scrollHeight - box.scrollTop === last ? still + 1 : 0
    }
    const { top } = box.getBoundingClientRect()
    const seen = [...box.querySelectorAll('[data-message]')].find((message) => message.getBoundingClientRect().top >= top)
    return seen?.getAttribute('data-message') ?? ''
  })
  const place = page.locator(`[data-message="${read}"]`)
  const topOf = async () => (await place.boundingBox())?.y ?? Number.NaN
  const before = await topOf()
  await say(page, 'One more.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect.poll(async () => Math.abs((await topOf()) - before)).toBeLessThan(1)

  // A link to a turn brings it into sight.
  await page.evaluate(() => {
    location.hash = '#long?loop=long.scripted.scripted.3&turn=0'
  })
  await expect(transcript.locator('[data-selected="true"]')).toBeInViewport()
  await expect(question(3)).toHaveCount(1)
})
