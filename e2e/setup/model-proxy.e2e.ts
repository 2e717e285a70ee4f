import { callerToken, createModelProxy } from '../../adapters/http/index.ts'
import { serve } from '../../test/harness/serve.ts'
import { anthropic } from '../../test/harness/server/anthropic.ts'
import { expect, test } from '../page/browser.ts'
import { serveModel } from '../page/model-server.ts'
import { say, status } from '../page/playground-page.ts'

const key = 'sk-ant-of-the-server-0123456789'
const token = 'token-of-the-visitor'

test('gets responses through a proxy without the server key', async ({ page, baseURL: origin = '' }) => {
  await using service = await serveModel(anthropic, () => ({ text: ['Hello ', 'through the proxy.'] }))
  const proxy = createModelProxy({
    upstreams: { anthropic: { api: 'anthropicMessages', baseUrl: service.url, apiKey: key } },
    authorize: (c) => (callerToken(c) === token ? 'visitor' : undefined),
    allow: { anthropic: ['claude-sonnet-*'] },
    // Calls that the proxy refuses itself do not count.
    budget: { windows: [{ ms: 86_400_000, requests: 1 }] },
    cors: [origin],
  })
  await using served = await serve((request) => proxy.fetch(request))
  const received: Promise<string>[] = []
  page.on('response', (response) => {
    if (response.url().startsWith(served.url)) received.push(response.text().catch(() => ''))
  })
  const choose = async (part: { model?: string; token?: string }) => {
    await page.getByTestId('model-button').click()
    if (part.model !== undefined) await page.getByRole('combobox', { name: 'Model', exact: true }).fill(part.model)
    if (part.token !== undefined) await page.getByLabel('Token for the proxy').fill(part.token)
    await page.getByRole('button', { name: 'Apply' }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  const failure = page.getByRole('alert').first()

  await page.goto('/')
  await page.getByTestId('model-button').click()
  await page.getByText('Model proxy').click()
  // What a worker that serves the page has.
  await expect(page.getByLabel('Address')).toHaveValue(`${origin}/models/anthropic`)
  await page.getByLabel('Address').fill(`${served.url}/anthropic`)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await say(page, 'Without a token?')
  await expect(status(page)).toHaveAttribute('data-status', 'error')
  await expect(failure).toContainText('No access')

  await choose({ token, model: 'claude-opus-4-6' })
  await say(page, 'With another model?')
  await expect(failure).toContainText('claude-opus-4-6')
  expect(service.requests).toHaveLength(0)

  await choose({ model: 'claude-sonnet-4-6' })
  await say(page, 'And now?')
  await expect(page.getByTestId('message-assistant').last()).toContainText('Hello through the proxy.')
  expect(service.requests.map(({ headers }) => headers.get('x-api-key'))).toEqual([key])

  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await say(page, 'Once more?')
  // It begins anew at midnight: nobody waits for that, the page says when.
  await expect(failure).toContainText('The budget is used up')
  await expect(failure).toContainText(/asks to wait until \w+ \d+, \d\d:\d\d: \d+ (h|min) more/)
  await expect(status(page)).toHaveAttribute('data-status', 'error')
  expect(service.requests).toHaveLength(1)
  expect((await Promise.all(received)).join()).not.toContain(key)
})
