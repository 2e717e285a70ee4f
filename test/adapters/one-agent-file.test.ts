import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Hono } from 'hono'
import OpenAI from 'openai'
import { expect, it, onTestFinished } from 'vitest'
import { createOpenAiApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { serveMcp } from '../../adapters/mcp/server/index.ts'
import { loadConfigFile } from '../../adapters/node/config/index.ts'
import { toNodeHandler } from '../../adapters/node/index.ts'
import { agentFromConfig } from '../../src/config.ts'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { directory, environment } from './node/cli/command.ts'
import { editorWith, on, text } from './node/cli/editor.ts'
import { calling, modelServer } from './node/cli/model-server.ts'

it('serves an OpenAI client, an MCP client and an editor from one agent file', async () => {
  const model = await modelServer(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { text: ['It is written.'] } : calling('write_file', { path: 'a.txt', content: 'x' }),
  )
  const root = directory()
  const written = join(root, 'a.txt')
  const path = join(root, 'agent.toml')
  writeFileSync(
    path,
    `[provider]
model = "test"
api = "openai_completions"
base_url = "${model.env.OPENAI_BASE_URL}"
api_key = "k"

[tools]
enabled = ["write_file"]
`,
  )
  /** What was written since this was asked. */
  const taken = (): string => {
    const found = readFileSync(written, 'utf8')
    rmSync(written)
    return found
  }
  const { config, host } = await loadConfigFile(path, { root, trust: () => true })
  /** As `phi` does it, a person is asked before a file is written. */
  const load = async (): Promise<Agent> => {
    const { settings } = await agentFromConfig(config, host)
    return new Agent({ ...settings, tools: (settings.tools ?? []).map((tool) => ({ ...tool, needsApproval: true })) })
  }
  const { settings } = await load()
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => settings })
  const app = new Hono()
    .route('/', createOpenAiApp({ agents: { writer: { agent: load, sessions } }, authorize: 'loopbackOnly' }))
    .route('/', serveMcp({ agents: { writer: { description: 'Writes.', agent: load } }, authorize: 'loopbackOnly' }))
  const server = createServer(toNodeHandler(app.fetch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`

  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1` })
  const first = await openai.responses.create({ model: 'writer', input: 'Write it.' })
  const asked = first.output.find((item) => item.type === 'mcp_approval_request')
  expect(asked?.name).toBe('write_file')
  expect(taken).toThrow('ENOENT')
  const input = [{ type: 'mcp_approval_response' as const, approval_request_id: asked?.id ?? '', approve: true }]
  const second = await openai.responses.create({ model: 'writer', previous_response_id: first.id, input })
  expect([second.output_text, taken()]).toEqual(['It is written.', 'x'])

  const mcp = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
  let questions = 0
  mcp.setRequestHandler(ElicitRequestSchema, () => {
    questions += 1
    return { action: 'accept', content: { approve: true } }
  })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`))
  // The class says of itself that its session may be undefined, which its own interface does not.
  await mcp.connect(transport as Parameters<typeof mcp.connect>[0])
  const result = await mcp.callTool({ name: 'writer', arguments: { prompt: 'Write it.' } })
  expect([result.content, questions, taken()]).toEqual([[{ type: 'text', text: 'It is written.' }], 1, 'x'])
  await mcp.close()

  const editor = await editorWith({ env: environment(), cwd: root, args: ['--config', 'agent.toml', '--trust'] })
  const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd: root, mcpServers: [] })
  const { stopReason } = await editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('Write it.') })
  expect([stopReason, editor.asked.length, taken()]).toEqual(['end_turn', 1, 'x'])
})
