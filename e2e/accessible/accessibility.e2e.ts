import { expect, test } from 'playwright/test'
import { main } from '../page/browser.ts'
import { finish, pick, quickPage, status, tab } from '../page/playground-page.ts'
import { violations } from './axe.ts'

test.beforeEach(({ page }) => page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' }))

test('passes axe on the page in both themes', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(quickPage)
  await expect(page.getByRole('heading', { name: 'See the loop think' })).toBeVisible()
  expect(await violations(page)).toEqual([])
  await finish(page, 'Text')
  await finish(page, 'Compaction')
  await page.getByTestId('note').getByRole('button').first().click()
  await pick(page, 'Approval')
  await expect(page.getByTestId('tool-card').last()).toHaveAttribute('data-status', 'pendingApproval')
  await page.locator('[data-testid=span] .span-label').first().click()
  expect(await violations(page)).toEqual([])
  for (const name of ['Request', 'Events', 'Usage']) {
    await tab(page, name)
    await expect(page.getByText('Loading…')).toHaveCount(0)
    expect([name, ...(await violations(page, '[aria-label=Inspector]'))]).toEqual([name])
  }
})

test('passes axe in every pane on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(quickPage)
  await finish(page, 'Sub-agent')
  for (const name of ['Conversations', 'Conversation', 'Inspector']) {
    await page.getByRole('button', { name, exact: true }).click()
    expect([name, ...(await violations(page))]).toEqual([name])
  }
})

test('supports keyboard operation', main, async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(quickPage)
  await expect(page.getByRole('heading', { name: 'See the loop think' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Command' })).toBeFocused()
  await page.keyboard.type('thinking')
  await page.keyboard.press('Enter')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await page.keyboard.press('d')
  await expect(page.getByRole('tab', { name: 'Request' })).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('[')
  await page.keyboard.press('[')
  await expect(page.getByTestId('request')).toContainText('Turn 0')
  await page.keyboard.press('t')
  await expect(page.getByRole('tab', { name: 'Trace' })).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('j')
  await expect(page.getByTestId('message-user').first()).toBeFocused()
  await page.keyboard.press('j')
  await expect(page.getByTestId('message-assistant').first()).toBeFocused()
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.keyboard.press('/')
  const composer = page.getByRole('textbox', { name: 'Message', exact: true })
  await expect(composer).toBeFocused()
  await page.keyboard.type('m t d')
  await expect(composer).toHaveValue('m t d')
})

test('keeps a prompt sent before the agent is loaded', async ({ page }) => {
  let come = (): void => {}
  const comes = new Promise<void>((resolve) => {
    come = resolve
  })
  await page.route(/start-[^/]*\.js$/, async (route) => {
    await comes
    await route.continue()
  })
  await page.goto(quickPage)
  const watch = await page.getByRole('button', { name: 'Watch it work' }).boundingBox()
  if (watch === null) throw new Error('The opening has no button to watch it work.')
  await page.keyboard.press('Control+k')
  await page.mouse.move(watch.x + 10, watch.y + 10)
  await page.mouse.down()
  come()
  await page.waitForLoadState('networkidle')
  await page.mouse.up()
  await expect(page.getByRole('combobox', { name: 'Command' })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})

test('resizes panes by their separators', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(quickPage)
  const separator = page.getByRole('separator', { name: 'Width of the inspector' })
  const before = Number(await separator.getAttribute('aria-valuenow'))
  await separator.press('ArrowLeft')
  await expect(separator).toHaveAttribute('aria-valuenow', String(before + 24))
  const inspector = page.getByRole('complementary', { name: 'Inspector' })
  await expect.poll(async () => Math.round((await inspector.boundingBox())?.width ?? 0)).toBe(before + 24)
})
