import { describe, expect, it } from 'vitest'
import { connectMcp, mcpTools } from '../../adapters/mcp/index.ts'
import { Agent, type AgentEvent, type JsonObject, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { baseUrl } from '../harness/env.ts'

const newBase = (kind: string) => `/${kind}/${crypto.randomUUID()}`

async function callTool(base: string, args: JsonObject, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const tools = await mcpTools(await connectMcp({ url: `${baseUrl()}/mcp${base}`, headers }))
  const agent = new Agent({ model: scripted([{ toolCalls: [{ name: 'echo', arguments: args }] }, { text: 'done' }]), tools, owns: [tools] })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  const { messages, status } = await agent.prompt('go').result
  await agent.close()
  expect(status).toBe('completed')
  return {
    texts: messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : [])),
    progress: events.flatMap((event) => (event.type === 'progressMessage' ? [event.text] : [])),
  }
}

async function heard(base: string): Promise<{ method: string; authorization: string; lastEventId: string; asked: string }[]> {
  return (await fetch(`${baseUrl()}/mcp-log${base}`)).json()
}

/** A server of the official SDK and hostile ones, over real HTTP. */
describe('MCP over HTTP', () => {
  it('connects to a server built with the official SDK and ends the session', async () => {
    const base = newBase('official')
    const { texts, progress } = await callTool(base, { text: 'hi €' })
    expect(texts).toEqual(['you said hi €'])
    expect(progress).toEqual(['1/2'])
    expect((await heard(base)).at(-1)?.method).toBe('DELETE')
  })

  it('sends its headers with every request', async () => {
    const base = newBase('strict')
    expect((await callTool(base, { text: 'hi' }, 'right')).texts).toEqual(['you said hi'])
    expect(new Set((await heard(base)).map(({ authorization }) => authorization))).toEqual(new Set(['Bearer right']))
  })

  it('starts a new session once if the server lost it', async () => {
    const base = newBase('forgets')
    expect((await callTool(base, { text: 'again' })).texts).toEqual(['you said again'])
    const asked = (await heard(base)).map((one) => one.asked)
    expect(asked.filter((method) => method === 'initialize')).toHaveLength(2)
    expect(asked.filter((method) => method === 'tools/call')).toHaveLength(2)
  })

  it('resumes a broken stream repeatedly without loss or duplicates', async () => {
    const base = newBase('cut')
    const { texts, progress } = await callTool(base, {})
    expect(texts).toEqual(['whole'])
    expect(progress).toEqual(['1', '2', '3', '4'])
    const resumed = (await heard(base)).filter(({ method, lastEventId }) => method === 'GET' && lastEventId !== '')
    expect(resumed.map(({ lastEventId }) => lastEventId)).toEqual(['2', '2', '4'])
  })

  it('rejects redirects and never sends tokens to another origin', async () => {
    const base = newBase('leads-away')
    await expect(callTool(base, {}, 'right')).rejects.toMatchObject({ name: 'McpError' })
    expect(await heard(base.replace('leads-away', 'strict'))).toEqual([])
  })
})
