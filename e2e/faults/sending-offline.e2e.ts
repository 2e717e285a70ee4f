import { expect, test } from 'playwright/test'
import { scripted } from '../../testing/index.ts'
import { chooseAgentServer, serveAgent } from '../page/agent-server.ts'
import { composer, quickPage, say } from '../page/playground-page.ts'

test('cancels a message in flight to a server without network on a phone', async ({ page, context, baseURL }) => {
  await using server = await serveAgent(() => ({ model: scripted(() => ({ text: 'Well.' })) }), String(baseURL))
  await page.goto(quickPage)
  await chooseAgentServer(page, server.url)
  await page.setViewportSize({ width: 390, height: 700 })
  await say(page, 'Hello.')
  await expect(page.getByText('Well.')).toBeVisible()
  await context.setOffline(true)
  await say(page, 'These words must not be lost.')
  await page.getByRole('button', { name: 'Take it back' }).click()
  await expect(composer(page)).toHaveValue('These words must not be lost.')
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeEnabled()
})
