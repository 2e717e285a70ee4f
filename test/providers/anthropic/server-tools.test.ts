import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/json.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import { Agent } from '../../../src/index.ts'
import { anthropic, anthropicTools } from '../../../src/providers/anthropic/index.ts'
import { answer, bodyFor, request, user, type WireMessages } from './call.ts'

/** A service that answers with these events, one answer after the other, and what it was asked. */
function service(...answers: object[][]) {
  const asked: { headers: Headers; body: { messages: { role: string; content: unknown[] }[]; [name: string]: unknown } }[] = []
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const events = answers[asked.length] ?? []
    asked.push({ headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) })
    return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    })
  }
  return { asked, fetch }
}

const started = (id: string) => ({ type: 'message_start', message: { id, content: [], usage: { input_tokens: 10 } } })
const block = (index: number, content_block: object) => [
  { type: 'content_block_start', index, content_block },
  { type: 'content_block_stop', index },
]
const ended = (stop_reason: string, more: object = {}) => [
  { type: 'message_delta', delta: { stop_reason, ...more }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]
const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'tea' } }
const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srv_1',
  content: [{ type: 'web_search_result', url: 'https://example.org/', title: 'Tea', encrypted_content: 'x' }],
}

describe('Anthropic web search', () => {
  it('declares, pauses, continues and sends back a web search', async () => {
    const { asked, fetch } = service(
      [started('a'), ...block(0, search), ...ended('pause_turn')],
      [started('b'), ...block(0, found), ...block(1, { type: 'text', text: 'Tea.' }), ...ended('end_turn')],
      [started('c'), ...block(0, { type: 'text', text: 'Yes.' }), ...ended('end_turn')],
    )
    const serverTools = [anthropicTools.webSearch({ maxUses: 2, allowedDomains: ['example.org'] })]
    const agent = new Agent({ model: anthropic('claude-opus-4-6', { apiKey: 'k', fetch, serverTools }) })
    const { text, usage } = await agent.prompt('Tea?').result
    expect(text).toBe('Tea.')
    expect(usage).toMatchObject({ input: 20, output: 10 })
    expect(asked[0]?.body.tools).toMatchObject([
      { type: 'web_search_20260318', name: 'web_search', max_uses: 2, allowed_domains: ['example.org'] },
    ])
    expect(asked[1]?.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    await agent.prompt('Sure?').result
    expect(asked[2]?.body.messages[1]?.content).toEqual([search, found, expect.objectContaining({ text: 'Tea.' })])
  })

  it('omits an unfinished search from the next request', async () => {
    const { asked, fetch } = service(
      [started('a'), ...block(0, { type: 'text', text: 'I look.' }), ...block(1, search), ...ended('end_turn')],
      [started('b'), ...block(0, { type: 'text', text: 'No.' }), ...ended('end_turn')],
    )
    const agent = new Agent({ model: anthropic('claude-opus-4-6', { apiKey: 'k', fetch }) })
    const { messages } = await agent.prompt('Tea?').result
    expect(messages.at(-1)).toMatchObject({ content: [{}, { type: 'serviceTool', status: 'failed', error: { code: 'interrupted' } }] })
    await agent.prompt('And?').result
    expect(asked[1]?.body.messages[1]?.content).toMatchObject([{ type: 'text', text: 'I look.' }])
  })

  it('sends the container id until the container expires', async () => {
    const expires = new Date(Date.now() + 60_000).toISOString()
    const { asked, fetch } = service(
      [started('a'), ...block(0, { type: 'text', text: 'x' }), ...ended('end_turn', { container: { id: 'c_1', expires_at: expires } })],
      [
        started('b'),
        ...block(0, { type: 'text', text: 'y' }),
        ...ended('end_turn', { container: { id: 'c_2', expires_at: '2020-01-01T00:00:00Z' } }),
      ],
      [started('c'), ...block(0, { type: 'text', text: 'z' }), ...ended('end_turn')],
    )
    const serverTools = [anthropicTools.codeExecution()]
    const agent = new Agent({ model: anthropic('claude-opus-4-6', { apiKey: 'k', fetch, serverTools }) })
    for (const words of ['1', '2', '3']) await agent.prompt(words).result
    expect(asked.map(({ body }) => body.container)).toEqual([undefined, 'c_1', undefined])
  })
})

it('sends an MCP server with its toolset and beta header, its key in no message', async () => {
  const token = 'mcp-secret-0123456789'
  const serverTools = [
    anthropicTools.mcp({ name: 'docs', url: 'https://mcp.example.org/', authorizationToken: token, allowedTools: ['find'] }),
  ]
  const fetch = async () => new Response(`no such token: ${token}`, { status: 400 })
  const model = anthropic('claude-opus-4-6', { apiKey: 'k', fetch, serverTools })
  const encoded = await model.provider.encode(request('claude-opus-4-6', { messages: [user('Hi')] }))
  const body = JSON.parse(encoded.body)
  expect(body.mcp_servers).toEqual([{ type: 'url', name: 'docs', url: 'https://mcp.example.org/', authorization_token: token }])
  expect(body.tools).toMatchObject([{ type: 'mcp_toolset', mcp_server_name: 'docs', configs: { find: { enabled: true } } }])
  expect(encoded.headers['anthropic-beta']).toBe('mcp-client-2025-11-20')
  expect(JSON.stringify(model.config)).not.toContain(token)
  const result = await new Agent({ model, retry: false }).prompt('Hi').result
  expect(JSON.stringify(result)).not.toContain(token)
})

it.each([
  [[{ type: 'web_search_20260318', name: 'web_search', allowed_domains: ['a'], blocked_domains: ['b'] }], 'allowed and blocked domains'],
  [[{ type: 'mcp_toolset', mcp_server_name: 'docs' }], 'has no server'],
  [[{ type: 'url', name: 'docs', url: 'https://x.org/' }], 'has no toolset'],
  [[{ type: 'web_search_20260318', name: 'web_search', defer_loading: true }], 'every tool has defer_loading'],
  [[{ name: 'web_search' }], 'has no type'],
])('rejects an invalid hosted tool and names it: %j', (serverTools, words) => {
  expect(() => anthropic('claude-opus-4-6', { apiKey: 'k', serverTools })).toThrow(words)
})

it('leaves requests without hosted tools unchanged', async () => {
  const body = await bodyFor(request('claude-opus-4-6', { messages: [user('Hi')] }))
  expect(body).not.toHaveProperty('tools')
  expect(body).not.toHaveProperty('mcp_servers')
})

describe('results of a hosted tool that is no longer declared', () => {
  const ran = (id: string, name: string): Content => {
    const call = { type: 'server_tool_use', id, name, input: { query: 'Tea' } }
    const found = { type: 'web_search_tool_result', tool_use_id: id, content: [] }
    const providerState = { api: 'anthropicMessages', model: 'claude-opus-4-6', payload: { call, result: found } } as const
    return {
      type: 'serviceTool',
      id,
      name,
      input: { query: 'Tea' },
      status: 'done',
      output: [{ url: 'https://a', title: 'A' }],
      providerState,
    }
  }
  const cited: Content = {
    type: 'text',
    text: 'Tea.',
    providerState: { api: 'anthropicMessages', model: 'claude-opus-4-6', payload: { citations: [{ type: 'web_search_result_location' }] } },
  }
  const said = answer([ran('a', 'web_search'), ran('b', 'code_execution'), ran('c', 'mcp.docs.find'), cited], { model: 'claude-opus-4-6' })
  const sent = async (serverTools: JsonObject[]) => {
    const made = request('claude-opus-4-6', { messages: [user('Hi'), said, user('And?')], cache: { type: 'disabled' } }, { serverTools })
    const { messages } = await bodyFor(made, { serverTools })
    return (messages as WireMessages)[1]?.content
  }

  it('sends the results of an undeclared tool as text', async () => {
    const mcp = anthropicTools.mcp({ name: 'docs', url: 'https://mcp.example.org/' })
    const told = { type: 'text', text: expect.stringContaining('A <https://a>') }
    expect(await sent([mcp])).toMatchObject([told, told, { id: 'c' }, { type: 'web_search_tool_result' }, { type: 'text', text: 'Tea.' }])
    expect((await sent([mcp]))?.at(-1)).toEqual({ type: 'text', text: 'Tea.' })
  })

  it('sends results back for declared tools, including code execution of web tools', async () => {
    const content = await sent([anthropicTools.webSearch()])
    expect(content?.map(({ type }) => type)).toEqual([
      ...['server_tool_use', 'web_search_tool_result', 'server_tool_use', 'web_search_tool_result'],
      ...['text', 'text'],
    ])
  })
})
