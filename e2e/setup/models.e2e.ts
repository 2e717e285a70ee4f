import type { Page } from 'playwright/test'
import { everywhere, expect, test, watched } from '../page/browser.ts'

const status = (page: Page) => page.getByTestId('run-status')
const settings = (page: Page) => page.getByTestId('model-button').click()
const apply = (page: Page) => page.getByRole('button', { name: 'Apply' }).click()
const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' })

async function command(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Commands' }).click()
  await page.getByRole('combobox', { name: 'Command' }).fill(name)
  await page.getByRole('combobox', { name: 'Command' }).press('Enter')
}

test.describe('models', () => {
  test('restores the model settings after a reload, but no key', async ({ page }) => {
    await page.goto('/')
    await settings(page)
    await page.getByText('Local server').click()
    await page.getByRole('combobox', { name: 'Model' }).fill('my-model')
    await apply(page)
    await expect(page.getByTestId('model-button')).toContainText('my-model')
    await page.reload()
    await expect(page.getByTestId('model-button')).toContainText('my-model')
    await expect(page.getByTestId('key-banner')).toHaveCount(0)
    await settings(page)
    await page.getByText('Scripted', { exact: true }).click()
    await apply(page)
    await expect(page.getByTestId('model-button')).toContainText('scripted')
  })
})

test.describe('replay and comparison', () => {
  let trouble: () => Promise<string[]>

  test.beforeEach(async ({ page }) => {
    trouble = watched(page)
    await page.goto('/')
  })

  test.afterEach(async () => expect(await trouble()).toEqual([]))

  test('replays a conversation at any speed and manually without model requests', everywhere, async ({ page }) => {
    await page.getByRole('button', { name: 'Thinking and tools', exact: true }).click()
    await expect(status(page)).toHaveAttribute('data-status', 'completed')
    await page.getByRole('button', { name: 'Replay' }).click()
    const bar = page.getByTestId('replay')
    const answer = page.getByText('The coldest entry is Tuesday with -17 °C.')
    const rewind = async () => {
      await bar.getByRole('slider', { name: 'Position' }).press('Home')
      await expect(page.getByTestId('message-assistant')).toHaveCount(0)
    }
    // It plays by itself, then as each button says. That it plays shows in the answer: a slow machine never sees it between two moments.
    for (const button of [undefined, '10×']) {
      if (button !== undefined) await bar.getByRole('button', { name: button, exact: true }).click()
      await expect(answer).toBeVisible()
      await expect(bar).toHaveAttribute('data-status', 'paused')
      await rewind()
    }
    await bar.getByRole('button', { name: 'Next event' }).click()
    await bar.getByRole('button', { name: 'Leave' }).click()
    await expect(answer).toBeVisible()
    // It can be written in again.
    await composer(page).fill('More.')
  })

  test('compares configurations by time, cost, winner and reason', async ({ page }) => {
    await command(page, 'compare 2')
    await page.getByRole('button', { name: 'Configuration', exact: true }).click()
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    const columns = page.getByTestId('race-column')
    await expect(columns).toHaveCount(4)
    await expect(page.locator('details[data-testid="race"]')).toBeVisible()
    await expect(page.locator('[data-chosen="true"]')).toContainText('chosen')
    await expect(columns.first()).toContainText('First token')
    await expect(columns.first()).toContainText('Tokens/s')
    await expect(columns.first()).toContainText('Cost')
    await expect(page.getByText(/^Judge: demo-/)).toBeVisible()
  })
})
