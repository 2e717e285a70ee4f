import { createServer } from 'node:http'
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import express, { type Response as ExpressResponse } from 'express'
import type { Page } from 'playwright/test'
import { callerToken } from '../../adapters/http/index.ts'
import { serveMcp } from '../../adapters/mcp/server/index.ts'
import { serve } from '../../test/harness/serve.ts'
import { expect, test } from '../page/browser.ts'
import { greet, serveGreeter } from '../page/greeter.ts'
import { anyPage } from '../page/model-server.ts'
import { card, chooseLocalServer, exported, quickPage, say, status } from '../page/playground-page.ts'

/** The authorization server of the MCP SDK, where a person is asked first. */
class AskingProvider extends DemoInMemoryAuthProvider {
  readonly given: string[] = []

  override async authorize(...[client, params, response]: Parameters<DemoInMemoryAuthProvider['authorize']>): Promise<void> {
    const redirect = (to: string) => response.send(`<a href="${to}">Let the playground in</a>`)
    await super.authorize(client, params, { redirect } as unknown as ExpressResponse) // all that it uses
  }

  override async exchangeAuthorizationCode(...given: Parameters<DemoInMemoryAuthProvider['exchangeAuthorizationCode']>) {
    const tokens = await super.exchangeAuthorizationCode(...given)
    this.given.push(tokens.access_token)
    return tokens
  }
}

async function serveLogin(provider: AskingProvider) {
  const app = express()
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(url) }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Guarded {
  isKnown: (token: string) => Promise<boolean>
  /** Where one logs in. */
  login?: string
  origin: string
}

/** An MCP server that lets in who has a token, and says where to log in. */
async function serveGuarded({ isKnown, login, origin }: Guarded) {
  const app = serveMcp({
    tools: [greet],
    cors: [origin],
    authorize: async (c) => isKnown(callerToken(c) ?? ''),
  })
  const heard: string[] = []
  const served = await serve((request) => {
    const { pathname, origin: own } = new URL(request.url)
    heard.push(request.headers.get('authorization') ?? '')
    if (login !== undefined && pathname.startsWith('/.well-known/oauth-protected-resource'))
      return Response.json({ resource: `${own}/mcp`, authorization_servers: [login] }, { headers: anyPage })
    if (!pathname.startsWith('/mcp')) return new Response(null, { status: 404, headers: anyPage })
    return app.fetch(request)
  })
  return {
    url: `${served.url}/mcp`,
    heard,
    async [Symbol.asyncDispose]() {
      await app.close()
      await served[Symbol.asyncDispose]()
    },
  }
}

async function add(page: Page, modelUrl: string, address: string): Promise<void> {
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${modelUrl}/v1`, model: 'greeter' })
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Agent', exact: true }).click()
  await page.getByRole('textbox', { name: 'MCP server' }).fill(address)
  await page.getByRole('button', { name: 'Add server' }).click()
  await expect(server(page)).toContainText('It requires a login.')
}

const server = (page: Page) => page.getByTestId('mcp-server')

/** Has the agent use the tool, then looks for the secret wherever the page keeps or shows something. */
async function greets(page: Page, secret: string): Promise<void> {
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await say(page, 'Greet Ada.')
  await card(page).getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('The tool said: Ahoy, Ada!')).toBeVisible()
  await expect(status(page)).toHaveText('Done')
  for (const format of ['phi', 'markdown', 'page']) expect((await exported(page, format)).text).not.toContain(secret)
  expect(page.url()).not.toContain(secret)
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage, title: document.title }))
  expect(kept).not.toContain(secret)
  expect(await page.content()).not.toContain(secret)
}

test('logs in to an MCP server in a window and provides its tools until logout', async ({ page, baseURL }) => {
  const provider = new AskingProvider()
  await using login = await serveLogin(provider)
  const isKnown = (token: string) =>
    provider.verifyAccessToken(token).then(
      () => true,
      () => false,
    )
  await using guarded = await serveGuarded({ isKnown, login: login.url, origin: new URL(String(baseURL)).origin })
  await using model = await serveGreeter()
  await add(page, model.url, guarded.url)
  // Who changes their mind is asked again.
  const first = page.waitForEvent('popup')
  await server(page).getByRole('button', { name: 'Log in' }).click()
  await expect((await first).getByRole('link', { name: 'Let the playground in' })).toBeVisible()
  await server(page).getByRole('button', { name: 'Cancel' }).click()
  await expect(server(page).getByRole('alert')).toContainText('You did not log in.')
  const second = page.waitForEvent('popup')
  await server(page).getByRole('button', { name: 'Log in' }).click()
  const popup = await second
  const closed = popup.waitForEvent('close')
  await popup.getByRole('link', { name: 'Let the playground in' }).click()
  await closed
  await expect(server(page)).toContainText('1 tool: greet')
  const [token = ''] = provider.given
  expect(token).not.toBe('')
  await greets(page, token)
  expect(model.requests.some(({ headers }) => JSON.stringify([...headers]).includes(token))).toBe(false)
  await page.getByTestId('key-banner').getByRole('button', { name: 'Forget' }).click()
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Agent', exact: true }).click()
  await server(page).getByRole('button', { name: 'List tools' }).click()
  await expect(server(page)).toContainText('It requires a login.')
})

test('sends an MCP token to its server only and stores it only with keys', async ({ page, baseURL }) => {
  const token = 'a-token-of-mine'
  const isKnown = async (given: string) => given === token
  await using guarded = await serveGuarded({ isKnown, origin: new URL(String(baseURL)).origin })
  await using model = await serveGreeter()
  await add(page, model.url, guarded.url)
  await server(page).getByRole('button', { name: 'Log in' }).click()
  await expect(server(page).getByRole('alert')).toContainText('no login for web pages')
  await server(page).getByLabel('Token').fill('wrong')
  await server(page).getByRole('button', { name: 'Use the token' }).click()
  await expect(server(page)).toContainText('It rejects the login or token of this page.')
  await server(page).getByLabel('Token').fill(token)
  await server(page).getByRole('button', { name: 'Use the token' }).click()
  await expect(server(page)).toContainText('1 tool: greet')
  expect(guarded.heard).toContain(`Bearer ${token}`)
  await greets(page, token)
  expect(model.requests.some(({ headers }) => JSON.stringify([...headers]).includes(token))).toBe(false)
  // After a reload the page has no token, and says which tools are not there, and what to do.
  await page.reload()
  await expect(page.getByTestId('notice').filter({ hasText: 'is not used' })).toContainText('Log in, or enter a token')
})
