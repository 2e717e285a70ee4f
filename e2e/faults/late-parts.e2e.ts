import { expect, type Page, test } from 'playwright/test'
import { card, composer, finish, quickPage, say, status } from '../page/playground-page.ts'

// What it keeps would answer in place of the server that has the part no more.
test.use({ serviceWorkers: 'block' })

/** As after a new deployment, or without a network: who asks for files of this name gets none. Returns how they are there again. */
async function blockPart(page: Page, name: string): Promise<() => Promise<void>> {
  const address = `**/assets/${name}-*`
  await page.route(address, (route) => route.abort())
  return () => page.unroute(address)
}

const failure = (page: Page) => page.getByTestId('load-failure')
const reload = (page: Page) => failure(page).first().getByRole('button', { name: 'Reload the page' }).click()
const words = 'These words must not be lost.'

for (const part of ['start', 'agent']) {
  test(`explains a missing ${part} part, disables its features and recovers after reload`, async ({ page }) => {
    const isBack = await blockPart(page, part)
    await page.goto(quickPage)
    await expect(failure(page)).toContainText('The agent could not be loaded')
    await expect(page.getByRole('button', { name: 'Text', exact: true })).toBeDisabled()
    await isBack()
    await reload(page)
    await finish(page, 'Text')
    await expect(failure(page)).toHaveCount(0)
  })
}

test('explains a link to a conversation without the agent part', async ({ page }) => {
  await blockPart(page, 'start')
  await page.goto('/?pace=0#somewhere')
  await expect(failure(page)).toContainText('Reload the page')
})

test('shows missing cards as placeholders and keeps the draft and messages', async ({ page }) => {
  const isBack = await blockPart(page, 'conversation-file')
  await page.goto(quickPage)
  await finish(page, 'Failure and retry')
  await expect(failure(page).first()).toContainText('could not be loaded')
  await expect(card(page)).toHaveCount(0)
  await expect(page.getByText('Thursday has not been written yet.')).toBeVisible()
  await composer(page).fill(words)
  await isBack()
  await reload(page)
  await expect(card(page)).toContainText('list_files')
  await expect(failure(page)).toHaveCount(0)
  await expect(composer(page)).toHaveValue(words)
})

test('marks a missing pane while the conversation continues', async ({ page }) => {
  const areBack = [await blockPart(page, 'sessions-pane'), await blockPart(page, 'inspector')]
  await page.goto(quickPage)
  await expect(page.getByRole('navigation', { name: 'Conversations' }).getByTestId('load-failure')).toBeVisible()
  await expect(page.getByRole('complementary', { name: 'Inspector' }).getByTestId('load-failure')).toBeVisible()
  await say(page, words)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  for (const isBack of areBack) await isBack()
  await reload(page)
  await expect(page.getByRole('tab', { name: 'Trace' })).toBeVisible()
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toContainText(words)
})

test('marks a missing dialog, closes it with Escape and recovers after reload', async ({ page }) => {
  const isBack = await blockPart(page, 'settings-dialog')
  await page.goto(quickPage)
  await composer(page).fill(words)
  await page.getByTestId('model-button').click()
  await expect(page.getByRole('dialog')).toContainText('could not be loaded')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(composer(page)).toHaveValue(words)
  await page.getByTestId('model-button').click()
  await expect(failure(page)).toBeVisible()
  await isBack()
  await reload(page)
  await page.getByTestId('model-button').click()
  await expect(page.getByRole('button', { name: 'Apply' })).toBeVisible()
  await expect(composer(page)).toHaveValue(words)
})

/** Lets who asks for files of this name wait. Returns how they come. */
async function held(page: Page, name: string): Promise<() => void> {
  let letGo = () => {}
  const isLetGo = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route(`**/assets/${name}-*`, async (route) => {
    await isLetGo
    await route.continue()
  })
  return letGo
}

/** Picks a scenario while the agent is still on its way. */
async function pickEarly(page: Page, scenario: string): Promise<void> {
  const letGo = await held(page, 'start')
  await page.goto(quickPage)
  await page.getByRole('button', { name: scenario, exact: true }).click()
  letGo()
}

const answer = (page: Page) => page.getByTestId('message-assistant')

test('plays a scenario picked before other parts load, then shows its cards', async ({ page }) => {
  await pickEarly(page, 'Approval')
  await expect(card(page)).toContainText('needs your approval')
})

test('streams before the store loads and stores the response afterwards', async ({ page }) => {
  const letGo = await held(page, 'kept')
  await pickEarly(page, 'Text')
  await expect(answer(page)).toContainText('you can walk her deck')
  await expect(status(page)).toHaveAttribute('data-status', 'running')
  letGo()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await page.reload()
  await expect(answer(page)).toContainText('you can walk her deck')
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toContainText('Tell me about the ship Fram.')
})

/** That conversations cannot be opened: others may say so of the list, and of the tree. */
const notice = (page: Page) => page.getByTestId('notice').filter({ hasText: 'Cannot open conversations' })
const notSent = (page: Page) => page.getByTestId('notice').filter({ hasText: 'Not sent' })

test('marks no response as complete without the store and explains why', async ({ page }) => {
  const isBack = await blockPart(page, 'kept')
  await pickEarly(page, 'Text')
  await expect(notice(page)).toContainText('a part of the page could not be loaded')
  await expect(status(page)).toHaveAttribute('data-status', 'error')
  await isBack()
  await notice(page).getByRole('button', { name: 'Reload the page' }).click()
  await finish(page, 'Text')
  await expect(page.getByTestId('notice')).toHaveCount(0)
})

test('keeps the draft without the store', async ({ page }) => {
  const isBack = await blockPart(page, 'kept')
  await page.goto(quickPage)
  await expect(notice(page)).toBeVisible()
  await say(page, words)
  await expect(notSent(page)).toContainText('a part of the page could not be loaded')
  await expect(composer(page)).toHaveValue(words)
  await isBack()
  await notice(page).getByRole('button', { name: 'Reload the page' }).click()
  await expect(composer(page)).toHaveValue(words)
  await composer(page).press('Enter')
  await expect(page.getByText(`You wrote: “${words}”`)).toBeVisible()
})

test('streams text before tools load and sends nothing that may need them', async ({ page }) => {
  const isBack = await blockPart(page, 'tools')
  await pickEarly(page, 'Text')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await say(page, words)
  await expect(notSent(page)).toContainText('a part of the page could not be loaded')
  await expect(composer(page)).toHaveValue(words)
  await isBack()
  await notSent(page).getByRole('button', { name: 'Reload the page' }).click()
  await expect(composer(page)).toHaveValue(words)
  await page.getByRole('button', { name: 'Approval', exact: true }).click()
  await expect(card(page)).toContainText('needs your approval')
})
