import type { Page } from 'playwright/test'
import { everywhere, expect, mainEverywhere, test, watched } from '../page/browser.ts'
import { card, composer, finish, pick, quickPage, repeat, status } from '../page/playground-page.ts'

let trouble: () => Promise<string[]>

test.beforeEach(async ({ page }) => {
  trouble = watched(page)
  await page.goto(quickPage)
})

test.afterEach(async () => expect(await trouble()).toEqual([]))

const note = (page: Page, type: string) => page.locator(`[data-testid=note][data-type=${type}]`)

test('shows a compaction as a divider with the omitted content, also after reload', everywhere, async ({ page }) => {
  await finish(page, 'Compaction')
  await expect(note(page, 'compaction').first()).toHaveAttribute('data-status', 'done')
  await page.reload()
  await note(page, 'compaction').first().getByRole('button', { name: 'show' }).click()
  await expect(page.getByTestId('note-hidden')).toContainText('[Summary]')
  await expect(page.getByTestId('note-hidden')).toContainText('Tool result')
})

test('prunes tool results and reverts a wrong path', async ({ page }) => {
  await finish(page, 'Pruning')
  await expect(note(page, 'prune')).toContainText('The model removed 2 messages from its context')
  await note(page, 'prune').getByRole('button', { name: 'show' }).click()
  await expect(page.getByTestId('note-hidden')).toContainText('boiler')
  await finish(page, 'Revert')
  await expect(note(page, 'revert')).toContainText('dropped 4 of its steps')
  await expect(page.getByText('The depot lies under the cairn').last()).toBeVisible()
})

test('generates three responses in parallel and continues with the chosen one', everywhere, async ({ page }) => {
  await pick(page, 'Parallel with judge')
  await expect(page.getByTestId('race-column')).toHaveCount(3)
  await expect(page.locator('details[data-testid=race]')).toHaveCount(1)
  await expect(page.locator('[data-testid=race-column][data-chosen=true]')).toHaveCount(1)
  await expect(page.getByTestId('message-assistant')).toContainText('open water came in sight')
  await expect(page.locator('[data-testid=loop][data-kind=parallel]')).toHaveCount(3)
  await finish(page, 'Text')
  await expect(page.getByTestId('message-user')).toHaveCount(2)
})

test('edits a prompt and keeps the other response in the tree', mainEverywhere, async ({ page }) => {
  await repeat(page, 'Hello?')
  await page.getByRole('button', { name: 'Edit and send again' }).click()
  await page.getByRole('textbox', { name: 'Edited message' }).fill('And now?')
  await page.getByRole('button', { name: 'Send instead' }).click()
  await expect(page.getByText('You wrote: “And now?”')).toBeVisible()
  await expect(page.getByTestId('message-user')).toHaveCount(1)
  await expect(page.locator('[data-testid=loop][data-kind=branch]')).toHaveCount(1)
  await expect(page.getByTestId('loop')).toHaveCount(2)
})

test('regenerates the last response', everywhere, async ({ page }) => {
  await repeat(page, 'Hello?')
  await page.getByRole('button', { name: 'Regenerate the last response' }).click()
  await expect(page.locator('[data-testid=loop][data-kind=rerun]')).toHaveCount(1)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(page.getByTestId('message-assistant')).toHaveCount(1)
})

test('branches from an earlier response', everywhere, async ({ page }) => {
  await repeat(page, 'First.')
  await repeat(page, 'Second.')
  await page.getByTestId('message-assistant').first().getByRole('button', { name: 'Branch from here' }).click()
  await expect(page.getByTestId('message-user')).toHaveCount(1)
  await composer(page).fill('Another way.')
  await composer(page).press('Enter')
  await expect(page.getByText('You wrote: “Another way.”')).toBeVisible()
  await expect(page.getByTestId('loop')).toHaveCount(3)
  await expect(page.locator('[data-testid=loop][data-path=off]')).toHaveCount(1)
})

test('edits the queue during a run', everywhere, async ({ page }) => {
  // It waits for a person: nothing of the queue is delivered meanwhile, however long this takes.
  await pick(page, 'Approval')
  await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
  for (const text of ['First.', 'Second.']) {
    await composer(page).fill(text)
    await composer(page).press('Enter')
  }
  await expect(page.getByTestId('queued')).toHaveCount(2)
  await page.getByRole('button', { name: 'Remove “First.”' }).click()
  await expect(page.getByTestId('queued')).toHaveCount(1)
  await expect(composer(page)).toHaveValue('')
  await page.getByRole('button', { name: 'Edit “Second.”' }).click()
  await expect(page.getByTestId('queued')).toHaveCount(0)
  await expect(composer(page)).toHaveValue('Second.')
})
