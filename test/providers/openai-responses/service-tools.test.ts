import { describe, expect, it } from 'vitest'
import type { AssistantMessage, Message } from '../../../src/contract/message/message.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { answering, sse, utf8 } from '../bytes.ts'
import { plainRequest } from '../model-call.ts'
import { answer, called, inputFor, result, user } from './call.ts'

type Event = Record<string, unknown>

const usage = { input_tokens: 3, output_tokens: 4 }
const added = (item: Event, output_index: number): Event => ({ type: 'response.output_item.added', output_index, item })
const done = (item: Event, output_index: number): Event => ({ type: 'response.output_item.done', output_index, item })
const completed = (more: Event = {}): Event => ({ type: 'response.completed', response: { status: 'completed', usage, ...more } })
const items = (...list: Event[]): Event[] =>
  list.flatMap((item, index) => [added({ ...item, status: 'in_progress' }, index), done(item, index)])
const reasoning = (id: string): Event => ({ id, type: 'reasoning', summary: [], encrypted_content: 'ZW5j' })
const said = (text: string, annotations: Event[] = []): Event => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations }],
})

async function played(
  events: Event[],
  earlier: Message[] = [],
): Promise<{ message: AssistantMessage; warnings: string[]; blocks: unknown[] }> {
  const fetch = answering([utf8(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))])
  const outcome = await called(openaiResponses('gpt-test', { fetch }), { messages: [user('Hi'), ...earlier] })
  expect(outcome.error).toBeUndefined()
  if (outcome.message === undefined) throw new Error('no answer')
  const warnings = outcome.events.flatMap((event) => (event.type === 'warning' ? [event.warning] : []))
  const blocks = outcome.events.flatMap((event) => (event.type === 'block' ? [event.block] : []))
  return { message: outcome.message, warnings, blocks }
}

const typesOf = async (...messages: AssistantMessage[]) =>
  (await inputFor([user('Hi'), ...messages, user('Go on.')])).slice(1, -1).map((item) => item.type ?? item.role)

describe('an unfinished item', () => {
  it('omits an unfinished item with its reasoning from the next request', async () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'incomplete' }
    const incomplete = { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' }, usage } }
    const { message } = await played([...items(reasoning('rs_0'), said('Yes.'), reasoning('rs_1'), search), incomplete])
    expect(message).toMatchObject({ stopReason: 'length' })
    expect(message.content.at(-1)).toEqual({
      type: 'serviceTool',
      id: 'ws_1',
      name: 'web_search',
      status: 'failed',
      error: { code: 'incomplete', message: 'The provider did not complete the call.' },
    })
    expect(await typesOf(message)).toEqual(['reasoning', 'message', 'assistant'])
  })

  it('marks a program without a result as failed', async () => {
    const program = { id: 'pr_1', type: 'program', call_id: 'p1', code: 'f()', status: 'completed' }
    const { message } = await played([...items(program), completed()])
    expect(message.content).toMatchObject([{ type: 'serviceTool', status: 'failed' }])
  })
})

describe('a program that calls a client tool', () => {
  const program = { id: 'pr_1', type: 'program', call_id: 'p1', code: 'f()', fingerprint: 'x', status: 'completed' }
  const caller = { type: 'program', caller_id: 'p1' }
  const call = { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}', caller, status: 'completed' }

  it('pauses a program for a client tool call, and completes it later', async () => {
    const { message } = await played([...items(program, call), completed()])
    expect(message).toMatchObject({ stopReason: 'toolUse', content: [{ id: 'pr_1', status: 'running' }, { type: 'toolCall' }] })
    const input = await inputFor([user('Hi'), message, result('c1')])
    expect(input.slice(1)).toMatchObject([program, { type: 'function_call', caller }, { type: 'function_call_output', caller }])
    const output = { id: 'po_1', type: 'program_output', call_id: 'p1', result: '42', status: 'completed' }
    const later = await played([...items(output, said('42.')), completed()], [message])
    expect(later.warnings).toEqual([])
    expect(later.message.content[0]).toMatchObject({ id: 'pr_1', name: 'program', input: { code: 'f()' }, status: 'done', output: '42' })
    expect((await inputFor([user('Hi'), message, result('c1'), later.message, user('b')])).at(-3)).toEqual(output)
  })
})

describe('a hosted MCP server', () => {
  const request = { id: 'mcpr_1', type: 'mcp_approval_request', server_label: 'shop', name: 'buy', arguments: '{"sku":1}' }

  it('requests approval and shows the approved call in the same block', async () => {
    const { message } = await played([...items(request), completed()])
    expect(message).toMatchObject({ stopReason: 'toolUse', content: [{ needsApproval: true, status: 'running' }] })
    const call = { ...request, id: 'mcp_1', type: 'mcp_call', approval_request_id: 'mcpr_1', output: 'ok', status: 'completed' }
    const later = await played([...items(call), completed()], [message])
    expect(later.message.content).toMatchObject([{ id: 'mcpr_1', name: 'mcp.shop.buy', status: 'done', output: 'ok' }])
    const input = await inputFor([user('Hi'), message, result('mcpr_1'), later.message, user('b')])
    expect(input.slice(1, -1)).toEqual([request, { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }, call])
  })

  it('settles an approved call without a result once', async () => {
    const { message } = await played([...items(request, { ...request, id: 'mcpr_2' }), completed()])
    const decided = [result('mcpr_1'), { ...result('mcpr_2'), isError: true }]
    const silent = await played([...items(said('Done.')), completed()], [message, ...decided])
    const { needsApproval: _asks, ...settled } = {
      ...{ type: 'serviceTool', id: 'mcpr_1', name: 'mcp.shop.buy', input: { sku: 1 }, status: 'failed', needsApproval: true },
      error: { code: 'incomplete', message: 'The provider did not report the outcome.' },
    }
    expect(silent.message.content).toMatchObject([{ type: 'text' }, settled])
    expect(silent.message.content[1]).toEqual(settled)
    const input = await inputFor([user('Hi'), message, ...decided, silent.message, user('b')])
    expect(input.slice(-3)).toMatchObject([{ type: 'message' }, { content: expect.stringContaining('did not report') }, { role: 'user' }])
    const next = await played([...items(said('Yes.')), completed()], [message, ...decided, silent.message])
    expect(next.message.content).toMatchObject([{ type: 'text' }])
  })

  it('settles an approved call after client tool calls', async () => {
    const { message } = await played([...items(request), completed()])
    const call = { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}', status: 'completed' }
    const mixed = await played([...items(call), completed()], [message, result('mcpr_1')])
    expect(mixed.message.content).toMatchObject([{ type: 'toolCall' }])
    const after = await played([...items(said('Done.')), completed()], [message, result('mcpr_1'), mixed.message, result('c1')])
    expect(after.message.content).toMatchObject([{ type: 'text' }, { id: 'mcpr_1', status: 'failed' }])
  })

  it('reports a failed tool listing', async () => {
    const list = { id: 'mcpl_1', type: 'mcp_list_tools', server_label: 'shop', tools: [], error: 'no route' }
    const { message, warnings } = await played([...items(list, said('Sorry.')), completed()])
    expect(warnings).toEqual([expect.stringMatching(/"shop".*no route/)])
    expect(message.content[0]).toMatchObject({ type: 'opaque', kind: 'mcp_list_tools' })
  })
})

describe('unknown data', () => {
  it('keeps, reports and sends back an unknown item', async () => {
    const hologram = { id: 'ho_1', type: 'hologram', beams: [1], call_id: null }
    const { message, warnings } = await played([
      ...items(reasoning('rs_1')),
      done(hologram, 1),
      ...items(said('ok')).map((event) => ({ ...event, output_index: 2 })),
      completed(),
    ])
    expect(warnings).toEqual([expect.stringContaining('"hologram"')])
    expect(message.content).toMatchObject([{ type: 'thinking' }, { type: 'opaque', kind: 'hologram' }, { type: 'text' }])
    expect((await inputFor([user('Hi'), message, user('b')])).slice(1, 3)).toEqual([reasoning('rs_1'), hologram])
  })

  it('keeps an unknown message part and sends it back in its message', async () => {
    const smell = { type: 'output_smell', of: 'roses' }
    const item = { ...said('Here:'), content: [{ type: 'output_text', text: 'Here:', annotations: [] }, smell] }
    const { message, warnings } = await played([...items(item), completed()])
    expect(warnings).toEqual([expect.stringContaining('"output_smell"')])
    expect((await inputFor([user('Hi'), message, user('b')]))[1]).toEqual(item)
  })

  it('shows content of events without an item', async () => {
    const events = [
      { type: 'response.audio.delta', delta: 'AAAA' },
      { type: 'response.audio.delta', delta: 'AAAA' },
    ]
    const { warnings } = await played([...events, ...items(said('ok')), completed()])
    expect(warnings).toEqual([expect.stringContaining('"response.audio.delta"')])
  })

  it('keeps an unsupported client-side call as opaque data', async () => {
    const shell = { id: 'sh_1', type: 'shell_call', call_id: 'c1', action: { commands: ['ls'] }, status: 'completed' }
    const { message, warnings } = await played([...items(shell), completed()])
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'opaque', kind: 'shell_call' }] })
    expect(warnings).toHaveLength(1)
  })
})

describe('citations', () => {
  const at = (start_index: number, end_index: number) => ({
    type: 'url_citation',
    url: 'https://a.example/',
    title: 'A',
    start_index,
    end_index,
  })
  const annotation = (each: Event, index = 0): Event => ({
    type: 'response.output_text.annotation.added',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    annotation_index: index,
    annotation: each,
  })
  const delta = (text: string): Event => ({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: text,
  })
  const opened = added({ id: 'msg_1', type: 'message' }, 0)

  it.each([
    ['after the text', [delta('🌍 wörld.'), annotation(at(2, 7))]],
    ['before the text', [annotation(at(2, 7)), delta('🌍 wörld.')]],
    ['only at the end', [delta('🌍 wörld.')]],
  ])('counts code points and cites each source once: %s', async (_when, events) => {
    const { message } = await played([opened, ...events, done(said('🌍 wörld.', [at(2, 7)]), 0), completed()])
    const range = { start: 3, end: 8 }
    expect(message.content).toMatchObject([{ text: '🌍 wörld.', citations: [{ url: 'https://a.example/', title: 'A', range }] }])
    expect('🌍 wörld.'.slice(range.start, range.end)).toBe('wörld')
    expect((await inputFor([user('Hi'), message, user('b')]))[1]).toEqual(said('🌍 wörld.', [at(2, 7)]))
  })

  it('clips citation ranges at the end of the text', async () => {
    const { message } = await played([opened, delta('Short.'), done(said('Short.', [at(2, 2 ** 40)]), 0), completed()])
    expect(message.content).toMatchObject([{ citations: [{ range: { start: 2, end: 6 } }] }])
  })

  it('reports a citation of unknown kind', async () => {
    const { message, warnings } = await played([opened, delta('x'), done(said('x', [{ type: 'smell' }]), 0), completed()])
    expect(warnings).toEqual([expect.stringContaining('"smell"')])
    expect((await inputFor([user('Hi'), message, user('b')]))[1]).toMatchObject({ content: [{ annotations: [{ type: 'smell' }] }] })
  })
})

describe('response metadata', () => {
  it('includes log probabilities, the tier, searches and the cost', async () => {
    const logprobs = [{ token: 'Hi', logprob: -0.5, bytes: [72], top_logprobs: [{ token: 'Ho', logprob: -1 }] }]
    const text = { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hi', logprobs }
    const more = {
      service_tier: 'flex',
      tool_usage: { web_search: { num_requests: 2 } },
      usage: { ...usage, cost_in_usd_ticks: 5_000_000 },
    }
    const { message } = await played([added({ id: 'msg_1', type: 'message' }, 0), text, done(said('Hi'), 0), completed(more)])
    expect(message.logprobs).toEqual([{ token: 'Hi', logprob: -0.5, top: [{ token: 'Ho', logprob: -1 }] }])
    expect(message.serviceTier).toBe('flex')
    expect(message.usage).toMatchObject({ searches: 2, reportedCost: 0.0005 })
  })
})

describe('a generated picture', () => {
  it('sends a generated image to another model as a user image', async () => {
    const png = 'iVBORw0KGgo='
    const item = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: png, output_format: 'jpeg' }
    const { message } = await played([...items(item), completed()])
    expect(message.content).toMatchObject([
      { type: 'serviceTool', name: 'image_generation', status: 'done' },
      { type: 'image', mimeType: 'image/png', data: png },
    ])
    expect(JSON.stringify(message).split(png)).toHaveLength(2)
    const other = await inputFor([user('Hi'), message, user('b')], openaiResponses('gpt-other'))
    expect(JSON.stringify(other)).toContain(`data:image/png;base64,${png}`)
  })
})

describe('an output item', () => {
  it('matches a tool search output to its call by order', async () => {
    const call = { id: 'tsc_1', type: 'tool_search_call', execution: 'server', call_id: null, arguments: { q: 'a' }, status: 'completed' }
    const output = {
      id: 'tso_1',
      type: 'tool_search_output',
      execution: 'server',
      call_id: null,
      tools: [{ type: 'function', name: 'f' }],
      status: 'completed',
    }
    const { message } = await played([...items(call, said('Wait.'), output), completed()])
    expect(message.content).toMatchObject([{ id: 'tsc_1', status: 'done', output: ['f'] }, { type: 'text' }, { type: 'opaque' }])
    expect((await inputFor([user('Hi'), message, user('b')])).slice(1, -1)).toEqual([call, said('Wait.'), output])
  })
})

it('sends a hosted tool block without provider state as text', async () => {
  const block = {
    type: 'serviceTool' as const,
    id: 'x',
    name: 'web_search',
    status: 'done' as const,
    output: [{ url: 'https://a.example/', title: 'A' }],
  }
  const input = await inputFor([user('Hi'), answer([block]), user('b')])
  expect(input[1]).toEqual({ role: 'assistant', content: '[web_search found: A <https://a.example/>]' })
})

describe('a call of a custom tool', () => {
  const custom = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'c1', name: 'x_keyword_search', input: '{}', status: 'completed' }
  const warningsOf = async (options: object) => {
    const fetch = answering([sse(...items(custom, said('ok')), completed())])
    const { events, message } = await called(openaiResponses('m', { ...options, fetch }))
    expect(message?.content).toMatchObject([{ type: 'serviceTool', name: 'x_keyword_search' }, { type: 'text' }])
    return events.flatMap((event) => (event.type === 'warning' ? [event.warning] : []))
  }
  const unrun = 'The custom tool "x_keyword_search" has no handler.'

  it('fails a custom tool call, and sends an error result back in place', async () => {
    const { message } = await played([...items(reasoning('rs_1'), custom, said('ok')), completed()])
    expect(message.content[1]).toMatchObject({ type: 'serviceTool', status: 'failed', error: { code: 'unavailable', message: unrun } })
    const output = { type: 'custom_tool_call_output', call_id: 'c1', output: unrun }
    const input = await inputFor([user('Hi'), JSON.parse(JSON.stringify(message)), user('Go on.')])
    expect(input.slice(1, -1)).toEqual([reasoning('rs_1'), custom, output, said('ok')])
  })

  it('sends a custom tool call back to xAI unchanged', async () => {
    const fetch = answering([sse(...items(custom, said('ok')), completed())])
    const model = openaiResponses('m', { provider: 'xai', fetch })
    const { message } = await called(model)
    expect(message?.content[0]).toMatchObject({ status: 'done' })
    const { body } = await model.provider.encode({
      ...plainRequest(model.config),
      messages: [user('Hi'), message, user('Go on.')].flatMap((each) => each ?? []),
    })
    expect(JSON.parse(body).input.slice(1, -1)).toEqual([custom, said('ok')])
  })

  it('warns that no tool runs a custom call', async () => {
    expect(await warningsOf({})).toEqual([expect.stringMatching(/custom tool "x_keyword_search".*has no handler/)])
  })

  it.each([{ provider: 'xai' }, { baseUrl: 'https://api.x.ai/v1', provider: 'grok' }])(
    'accepts a custom tool call of xAI without a warning: %j',
    async (options) => {
      expect(await warningsOf(options)).toEqual([])
    },
  )
})
