import { expect, type Page, test } from 'playwright/test'
import { command, quickPage, repeat } from '../page/playground-page.ts'
import { violations } from './axe.ts'

/** Everything else is inert while a dialog is open. */
async function checkDialog(page: Page, name: string): Promise<void> {
  await expect(page.getByRole('dialog')).toBeVisible()
  await expect(page.getByText('Loading…')).toHaveCount(0)
  expect([name, ...(await violations(page, 'dialog'))]).toEqual([name])
}

test.beforeEach(async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(quickPage)
})

test('passes axe in the settings with every choice, in both themes', async ({ page }) => {
  await page.getByTestId('model-button').click()
  await checkDialog(page, 'Scripted')
  for (const name of ['Your own key', 'Model proxy', 'Local server', 'On a server']) {
    await page.getByText(name, { exact: true }).click()
    await checkDialog(page, name)
  }
  await page.getByText('In this tab', { exact: true }).click()
  for (const name of ['Agent', 'View code']) {
    await page.getByRole('tab', { name, exact: true }).click()
    await checkDialog(page, name)
  }
})

test('passes axe in the other dialogs, in both themes', async ({ page }) => {
  await repeat(page, '[the weather](https://weather.test/)')
  for (const name of ['compare 2', 'all keys']) {
    await command(page, name)
    await checkDialog(page, name)
    await page.keyboard.press('Escape')
  }
  await page.getByRole('button', { name: 'Commands' }).click()
  await checkDialog(page, 'commands')
  await page.keyboard.press('Escape')
  await page.getByTestId('message-assistant').getByRole('link').click()
  await checkDialog(page, 'link')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Edit and send again' }).click()
  await expect(page.getByRole('textbox', { name: 'Edited message' })).toBeFocused()
  expect(['edit', ...(await violations(page, '.message'))]).toEqual(['edit'])
})
