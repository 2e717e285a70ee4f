import { createServer } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Hono } from 'hono'
import OpenAI from 'openai'
import { expect, it, onTestFinished } from 'vitest'
import { createOpenAiApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { serveMcp } from '../../adapters/mcp/server/index.ts'
import { toNodeHandler } from '../../adapters/node/index.ts'
import { agentFromConfig, parseConfig } from '../../src/config/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { deployTool } from './http/openai/served.ts'

const file = `
[provider]
model = "claude-sonnet-5"
api_key = "\${ANTHROPIC_API_KEY}"

[agent]
system_prompt = "You deploy."

[tools]
enabled = ["deploy"]
`

it('a client of OpenAI and one of MCP each finish a run with a tool and an approval against the same agent file', async () => {
  const { deploy, done } = deployTool()
  const { config } = await parseConfig(file, 'toml')
  const createModel = () =>
    scripted(({ messages, systemPrompt }) =>
      messages.at(-1)?.role === 'toolResult' ? { text: systemPrompt } : { toolCalls: [{ name: 'deploy', arguments: { version: '2' } }] },
    )
  const load = () => agentFromConfig(config, { tools: [deploy], createModel, env: { ANTHROPIC_API_KEY: 'a key' } })
  const { settings } = await load()
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => settings })
  const app = new Hono()
    .route('/', createOpenAiApp({ agents: { deployer: { agent: load, sessions } }, authorize: 'loopbackOnly' }))
    .route('/', serveMcp({ agents: { deployer: { description: 'Deploys.', agent: load } }, authorize: 'loopbackOnly' }))
  const server = createServer(toNodeHandler(app.fetch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`

  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1` })
  const first = await openai.responses.create({ model: 'deployer', input: 'Deploy 2.' })
  const asked = first.output.find((item) => item.type === 'mcp_approval_request')
  expect([asked?.name, done]).toEqual(['deploy', []])
  const input = [{ type: 'mcp_approval_response' as const, approval_request_id: asked?.id ?? '', approve: true }]
  const second = await openai.responses.create({ model: 'deployer', previous_response_id: first.id, input })
  expect([second.output_text, done]).toEqual(['You deploy.', ['2']])

  const mcp = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
  mcp.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { approve: true } }))
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`))
  // The class says of itself that its session may be undefined, which its own interface does not.
  await mcp.connect(transport as Parameters<typeof mcp.connect>[0])
  const result = await mcp.callTool({ name: 'deployer', arguments: { prompt: 'Deploy 2.' } })
  expect([result.content, done]).toEqual([[{ type: 'text', text: 'You deploy.' }], ['2', '2']])
  await mcp.close()
})
