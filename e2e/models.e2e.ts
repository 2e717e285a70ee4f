import type { Page } from 'playwright/test'
import { serve } from '../examples/node/serve.ts'
import { anthropic } from '../test/harness/server/anthropic.ts'
import { everywhere, expect, test, watched } from './browser.ts'

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
  test('a visitor answers with a key of their own, which is nowhere but in memory', async ({ page }) => {
    const key = 'sk-ant-of-the-visitor-0123456789'
    const asked: string[] = []
    const service = await serve(async (request) => {
      if (request.method === 'OPTIONS') return new Response(null, { headers: cors })
      asked.push(request.headers.get('x-api-key') ?? '')
      const frames = anthropic.frames({ text: ['Hello ', 'from the service.'] }).join('')
      return new Response(frames, { headers: { ...cors, 'content-type': 'text/event-stream' } })
    })
    try {
      await page.goto('/')
      await settings(page)
      await page.getByText('Your own key').click()
      await page.getByLabel('Address').fill(service.url)
      await page.getByLabel('Key', { exact: true }).fill(key)
      await page.getByLabel('Key', { exact: true }).blur()
      await page.getByRole('tab', { name: 'View code' }).click()
      await expect(page.getByTestId('program')).toContainText('process.env.ANTHROPIC_API_KEY')
      await expect(page.getByTestId('program')).not.toContainText(key)
      await page.getByRole('tab', { name: 'Model' }).click()
      await apply(page)
      await expect(page.getByTestId('model-button')).toContainText('claude-sonnet')
      await expect(page.getByTestId('key-banner')).toBeVisible()
      await composer(page).fill('Hello?')
      await composer(page).press('Enter')
      await expect(page.getByTestId('message-assistant')).toContainText('Hello from the service.')
      expect(asked).toEqual([key])
      const kept = await page.evaluate(() =>
        JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.documentElement.outerHTML]),
      )
      expect(kept).not.toContain(key)
      await page.getByTestId('key-banner').getByRole('button', { name: 'Forget' }).click()
      await expect(page.getByTestId('key-banner')).toHaveCount(0)
      await composer(page).fill('And now?')
      await composer(page).press('Enter')
      await expect(status(page)).toHaveAttribute('data-status', 'error')
      await expect(page.getByRole('alert').first()).toContainText('There is no key in this page')
      expect(asked).toHaveLength(1)
    } finally {
      await service[Symbol.asyncDispose]()
    }
  })

  test('what was chosen is there again after a reload; a key is not', async ({ page }) => {
    await page.goto('/')
    await settings(page)
    await page.getByText('Local server').click()
    await page.getByRole('textbox', { name: 'Model' }).fill('my-model')
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

  test('plays a conversation again, at any speed and by hand, and asks nobody', everywhere, async ({ page }) => {
    await page.getByRole('button', { name: 'Thinking and tools', exact: true }).click()
    await expect(status(page)).toHaveAttribute('data-status', 'completed')
    await page.getByRole('button', { name: 'Replay' }).click()
    const bar = page.getByTestId('replay')
    await expect(bar).toHaveAttribute('data-status', 'playing')
    await bar.getByRole('button', { name: '10×' }).click()
    await expect(bar).toHaveAttribute('data-status', 'paused')
    await expect(page.getByText('The coldest entry is Tuesday with -17 °C.')).toBeVisible()
    await bar.getByRole('slider', { name: 'Position' }).press('Home')
    await expect(page.getByTestId('message-assistant')).toHaveCount(0)
    await bar.getByRole('button', { name: 'Next event' }).click()
    await bar.getByRole('button', { name: 'Leave' }).click()
    await expect(page.getByText('The coldest entry is Tuesday with -17 °C.')).toBeVisible()
    // It can be written in again.
    await composer(page).fill('More.')
  })

  test('compares configurations: times, cost, winner and the reason', async ({ page }) => {
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
    await expect(page.getByText('Judge: 2')).toBeVisible()
  })
})

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'POST',
}
