import { serveMcp } from '../../adapters/mcp/server/index.ts'
import { serve } from '../../test/harness/serve.ts'
import { expect, test } from '../page/browser.ts'
import { greet, serveGreeter } from '../page/greeter.ts'
import { anyPage } from '../page/model-server.ts'
import { card, chooseLocalServer, say, status } from '../page/playground-page.ts'

test('uses tools of a local MCP server and reports one that fails', async ({ page, baseURL }) => {
  const app = serveMcp({ tools: [greet], authorize: 'loopbackOnly', cors: [new URL(String(baseURL)).origin] })
  await using good = await serve((request) => app.fetch(request))
  await using closed = await serve(({ method }) => new Response(null, { status: method === 'OPTIONS' ? 204 : 401, headers: anyPage }))
  await using model = await serveGreeter()
  await page.goto('/')
  await chooseLocalServer(page, { address: `${model.url}/v1`, model: 'greeter' })
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Greet Ada.')

  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Agent', exact: true }).click()
  const add = async (address: string) => {
    await page.getByRole('textbox', { name: 'MCP server' }).fill(address)
    await page.getByRole('button', { name: 'Add server' }).click()
  }
  await add('https://example.com/mcp')
  await expect(page.getByRole('alert')).toContainText('forbids https://example.com')
  await add(`${good.url}/mcp`)
  const servers = page.getByTestId('mcp-server')
  await expect(servers.first()).toContainText('1 tool: greet')
  await add(`${closed.url}/mcp`)
  await expect(servers.nth(1)).toContainText('requires a login')
  // One that has no answer for pages: whoever asks learns that this is so.
  await using mute = await serve(() => new Response('hello'))
  await add(`${mute.url}/mcp`)
  await expect(servers.nth(2)).toContainText('(CORS)')
  await page.getByRole('button', { name: `Remove ${mute.url}/mcp` }).click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText(`The MCP server at ${closed.url}/mcp is not used`)).toBeVisible()

  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toHaveValue('Greet Ada.')
  await say(page, 'Greet Ada.')
  await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
  await card(page).getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('The tool said: Ahoy, Ada!')).toBeVisible()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await app.close()
})
