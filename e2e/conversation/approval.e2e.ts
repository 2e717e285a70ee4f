import { expect, test } from 'playwright/test'
import { main } from '../page/browser.ts'
import { card, pick, quickPage, status } from '../page/playground-page.ts'

test('restores a pending approval after a reload and runs the call once approved', main, async ({ page }, info) => {
  await page.goto(quickPage)
  await pick(page, 'Approval')
  await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
  const shown = await card(page).innerText()
  await page.reload()
  await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
  await expect(page.getByTestId('announcer')).toHaveText('write_file needs your approval.')
  expect(await card(page).innerText()).toBe(shown)
  await page.screenshot({ path: info.outputPath('after-reload.png') })
  await card(page).getByRole('button', { name: 'Approve' }).click()
  await expect(card(page)).toHaveAttribute('data-status', 'done')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await page.reload()
  await expect(card(page)).toHaveAttribute('data-status', 'done')
})

test('rejects a call after a reload', async ({ page }) => {
  await page.goto(quickPage)
  await pick(page, 'Approval')
  await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
  await page.reload()
  await card(page).getByRole('button', { name: 'Deny' }).click()
  await expect(card(page)).toHaveAttribute('data-status', 'denied')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})

test('requests, approves and runs a call without https', async ({ page, baseURL }) => {
  await page.route('http://insecure.test/**', async (route) => {
    const { pathname } = new URL(route.request().url())
    await route.fulfill({ response: await route.fetch({ url: `${baseURL}${pathname}` }) })
  })
  await page.goto('http://insecure.test/')
  expect(await page.evaluate(() => [isSecureContext, typeof crypto.subtle])).toEqual([false, 'undefined'])
  await pick(page, 'Approval')
  await card(page).getByRole('button', { name: 'Approve' }).click()
  await expect(card(page)).toHaveAttribute('data-status', 'done')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})

test('approves a call with edited arguments, and shows those of the model', main, async ({ page }) => {
  await page.goto(quickPage)
  await pick(page, 'Approval')
  await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
  await card(page).getByRole('button', { name: 'Edit…' }).click()
  const form = card(page).getByTestId('edit-arguments')
  const path = form.getByLabel('path')
  const before = await path.inputValue()
  await path.fill('edited.md')
  await form.getByRole('button', { name: 'Cancel' }).click()
  await card(page).getByRole('button', { name: 'Edit…' }).click()
  await expect(form.getByLabel('path')).toHaveValue(before)
  await form.getByLabel('path').fill('edited.md')
  await form.getByRole('button', { name: 'Approve these arguments' }).click()
  await expect(card(page)).toHaveAttribute('data-status', 'done')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  for (const text of ['edited.md', before, 'The user changed the arguments']) await expect(card(page)).toContainText(text)
  await page.reload()
  for (const text of ['edited.md', before]) await expect(card(page)).toContainText(text)
})
