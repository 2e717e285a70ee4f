import type { Page } from 'playwright'
import { serveMcp } from '../../../adapters/mcp/server/index.ts'
import { anyPage } from '../../../e2e/page/model-server.ts'
import type { AgentTool } from '../../../src/index.ts'
import { serve } from '../../../test/harness/serve.ts'
import { useService } from '../services.ts'
import { click, press, say, settings, settle, tab, until, useLocalServer } from '../steps.ts'
import type { View } from '../view.ts'

const greet: AgentTool = {
  ...{ name: 'greet', label: 'Greet', description: 'Greets somebody.' },
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  execute: ({ name }) => ({ content: [{ type: 'text', text: `Ahoy, ${String(name)}!` }] }),
}

/** A service that says which models it has, or why it does not say so. */
async function serveList(made: AsyncDisposableStack, answer: () => Response): Promise<string> {
  const any = { ...anyPage, 'access-control-allow-methods': 'GET, POST' }
  const service = await serve(({ method }) => (method === 'OPTIONS' ? new Response(null, { headers: any }) : answer()))
  made.use(service)
  return `${service.url}/v1`
}

async function localServer(page: Page, address: string): Promise<void> {
  await settings(page)
  await click(page.getByText('Local server'))
  await page.getByLabel('Address').fill(address)
}

async function agentTab(page: Page): Promise<void> {
  await settings(page)
  await click(page.getByText('Local server'))
  await tab(page, 'Agent')
}

const code = `const response = await lookUp(args.place)
return { miles: response.miles * 1.151 }

function lookUp(place) {
  return { miles: place.length }
}`

/** Writes a tool. */
async function ownTool(page: Page): Promise<void> {
  await settings(page)
  await tab(page, 'Own tools')
  await press(page, 'Add a tool')
  await page.getByRole('textbox', { name: 'Code' }).fill(code)
}

/** What can be set of a real model, and what is said of what cannot. */
export const realModels: readonly View[] = [
  ...['Your own key', 'Model proxy', 'Local server', 'On a server'].map((choice) => ({
    name: `settings-${choice.toLowerCase().replaceAll(' ', '-')}`,
    async make(page: Page) {
      await settings(page)
      await click(page.getByText(choice, { exact: true }))
    },
  })),
  { name: 'settings-agent', make: agentTab },
  {
    name: 'settings-request',
    async make(page) {
      await agentTab(page)
      await page.getByLabel('Schema of the answer').fill('{"type":"object","properties":{"miles":{"type":"number"}},"required":["miles"]}')
      await page.getByLabel('Recent turns kept').scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'settings-fault',
    async make(page) {
      await agentTab(page)
      await page.getByLabel('Schema of the answer').fill('{"type":')
      await press(page, 'Apply')
      await until(page, '.settings [role=alert]')
    },
  },
  {
    name: 'settings-not-applied',
    async make(page) {
      await settings(page)
      await click(page.getByText('Local server'))
      await key(page)
      await settings(page)
    },
  },
  {
    name: 'settings-models',
    async make(page, made) {
      const ids = ['llama-3.3-70b', 'mistral-small', 'qwen-3-32b'].map((id) => ({ id }))
      await localServer(page, await serveList(made, () => Response.json({ data: ids }, { headers: anyPage })))
      await press(page, 'Ask the service')
      await until(page, '.settings :text("3 models")')
    },
  },
  {
    name: 'settings-key-refused',
    async make(page, made) {
      await localServer(page, await serveList(made, () => Response.json({ error: { message: 'No.' } }, { status: 401, headers: anyPage })))
      await press(page, 'Ask the service')
      await until(page, '.settings :text("refused (401)")')
    },
  },
  {
    name: 'settings-service-tools',
    async make(page) {
      await settings(page)
      await click(page.getByText('Your own key', { exact: true }))
      await click(page.getByLabel('Web search').first())
      await page.getByLabel('Web search').first().scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'settings-mcp',
    async make(page, made) {
      const app = serveMcp({ tools: [greet], authorize: 'loopbackOnly', cors: [new URL(page.url()).origin] })
      const good = made.use(await serve((request) => app.fetch(request)))
      const closed = made.use(
        await serve(({ method }) => new Response(null, { status: method === 'OPTIONS' ? 204 : 401, headers: anyPage })),
      )
      const mute = made.use(await serve(() => new Response('hello')))
      made.defer(() => app.close())
      await agentTab(page)
      for (const address of [`${good.url}/mcp`, `${closed.url}/mcp`, `${mute.url}/mcp`, 'https://example.com/mcp']) {
        await page.getByRole('textbox', { name: 'MCP server' }).fill(address)
        await press(page, 'Add server')
        await settle(page, 1000)
      }
      await until(page, '[data-testid=mcp-server] >> nth=2')
      await until(page, ':text("(CORS)")', 200)
      await page.getByTestId('mcp-server').nth(1).scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'mcp-left-out',
    async make(page, made) {
      const closed = made.use(
        await serve(({ method }) => new Response(null, { status: method === 'OPTIONS' ? 204 : 401, headers: anyPage })),
      )
      await agentTab(page)
      await page.getByRole('textbox', { name: 'MCP server' }).fill(`${closed.url}/mcp`)
      await press(page, 'Add server')
      await until(page, '[data-testid=mcp-server]')
      await settle(page, 1000)
      await press(page, 'Apply')
      await until(page, '[data-testid=notice]', 200)
    },
  },
  { name: 'settings-own-tools', make: ownTool },
  {
    name: 'settings-own-tools-fault',
    async make(page) {
      await ownTool(page)
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('two words')
      await press(page, 'Apply')
      await until(page, '.settings [role=alert]')
    },
  },
  {
    name: 'own-tool-asks',
    async make(page, made) {
      await useService(page, made, () => ({ text: ['I add.'], calls: [{ id: 'call_1', name: 'add', arguments: { a: 2, b: 3 } }] }))
      await ownTool(page)
      await press(page, 'Apply')
      await say(page, 'Add two and three.')
      await until(page, '[data-status=pendingApproval]')
      await settle(page)
    },
  },
  {
    name: 'long-model-name',
    async make(page) {
      await useLocalServer(page, 'http://127.0.0.1:9/v1')
      await settings(page)
      await page.getByRole('combobox', { name: 'Model', exact: true }).fill('a-model.with-a-name/that-does-not-want-to-come-to-an-end-v1:0')
      await press(page, 'Apply')
    },
  },
]

async function key(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  await settle(page, 100)
}
