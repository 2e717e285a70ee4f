import { afterAll, describe, expect, it } from 'vitest'
import { bearer } from '../../adapters/http/index.ts'
import { connectMcp, mcpTools } from '../../adapters/mcp/index.ts'
import { serveMcp } from '../../adapters/mcp/server/index.ts'
import { Agent, defineTool } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const deploy = defineTool({
  name: 'deploy',
  description: 'Puts it into service.',
  parameters: { type: 'object', properties: {} },
  needsApproval: true,
  execute: () => 'done',
})
const helping = scripted(({ messages }) =>
  messages.at(-1)?.role === 'toolResult' ? { text: 'Deployed.' } : { toolCalls: [{ name: 'deploy', arguments: {} }] },
)
const app = serveMcp({
  agents: { helper: { description: 'Deploys.', agent: () => new Agent({ model: helping, tools: [deploy] }) } },
  authorize: bearer('ada-secret'),
})
afterAll(() => app.close())

describe('an agent as an MCP server', () => {
  it('runs as a tool of another agent and forwards elicitation', async () => {
    // Without a server in between, so that it runs where none can listen.
    const connection = await connectMcp({
      url: 'http://localhost/mcp',
      headers: { authorization: 'Bearer ada-secret' },
      fetch: async (url, init) => app.fetch(new Request(url, init)),
      onElicit: 'event',
    })
    const tools = await mcpTools(connection)
    const model = scripted(({ messages }) =>
      messages.at(-1)?.role === 'toolResult' ? { text: 'Thanks.' } : { toolCalls: [{ name: 'helper', arguments: { prompt: 'Deploy.' } }] },
    )
    const run = new Agent({ model, tools }).prompt('Have it deployed.')
    const asked: string[] = []
    run.subscribe((event) => {
      if (event.type !== 'inputRequested') return
      asked.push(event.message)
      run.answer(event, { action: 'accept', content: { approve: true } })
    })
    const { text, messages } = await run.result
    const result = messages.find(({ role }) => role === 'toolResult')
    expect([text, asked, result]).toMatchObject([
      'Thanks.',
      [expect.stringContaining('deploy')],
      { content: [{ type: 'text', text: 'Deployed.' }] },
    ])
    await connection.close()
  })
})
