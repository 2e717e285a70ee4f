import { describe, expect, it } from 'vitest'
import { Agent, defineTool } from '../../../src/index.ts'
import { fallback } from '../../../src/models.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { fastRetry } from '../../support/play.ts'

const stream = (events: readonly object[]) => {
  return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })
}
const failure = (status: number, type: string) => Response.json({ type: 'error', error: { type, message: 'no' } }, { status })

const started = { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 10 } } }
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const ended = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]
const thinking = block(
  0,
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'thinking_delta', thinking: 'I search.' },
  { type: 'signature_delta', signature: 'signed' },
)
const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'tea' } }
const found = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }
const paused = [started, ...thinking, ...block(1, { type: 'text', text: 'I look. ' }), ...block(2, search), ...ended('pause_turn')]
const rest = [started, ...block(0, found), ...block(1, { type: 'text', text: 'Tea.' }), ...ended('end_turn')]

/** What a continuation can meet before it succeeds. */
const failures: Record<string, () => Response> = {
  'an overloaded service': () => failure(529, 'overloaded_error'),
  'a rate limit': () => failure(429, 'rate_limit_error'),
  'a key that expired': () => failure(401, 'authentication_error'),
  'an empty body': () => new Response('', { headers: { 'content-type': 'text/event-stream' } }),
  'a cut after message_start': () => stream([started]),
  'a cut in an unfinished block': () =>
    stream([started, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }]),
  'an error in the stream': () => stream([started, { type: 'error', error: { type: 'overloaded_error', message: 'no' } }]),
}

interface Sent {
  role: string
  content: unknown
}

function service(...responses: (() => Response)[]) {
  const sent: Sent[][] = []
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const body: { messages: Sent[] } = JSON.parse(String(init?.body))
    const respond = responses[sent.length] ?? (() => stream(rest))
    sent.push(body.messages)
    return respond()
  }
  return { sent, fetch }
}

/** A key that can be fetched again after a 401. */
const credentials = { current: () => 'k', invalidate: () => undefined }

describe('a continuation of a paused response', () => {
  // A key is refreshed once.
  const cases = Object.entries(failures).flatMap(([name, fail]) =>
    (fail().status === 401 ? [1] : [1, 2]).map((count) => ({ name, fail, count })),
  )

  it.each(cases)('resends the paused blocks unchanged after $name ($count times)', async ({ fail, count }) => {
    const { sent, fetch } = service(() => stream(paused), ...Array.from({ length: count }, () => fail))
    const agent = new Agent({ model: anthropic('claude-opus-4-6', { apiKey: credentials, fetch }), retry: fastRetry })
    const result = await agent.prompt('Tea?').result
    expect(result.status).toBe('completed')
    expect(sent).toHaveLength(count + 2)
    expect(sent.at(-1)).toEqual(sent[1])
    expect(sent.at(-1)?.at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ type: 'thinking', signature: 'signed' }, { type: 'text', text: 'I look. ' }, search],
    })
    const responses = result.messages.filter(({ role }) => role === 'assistant')
    expect(responses).toMatchObject([
      {
        stopReason: 'stop',
        content: [{ type: 'thinking' }, { text: 'I look. ' }, { type: 'serviceTool', status: 'done' }, { text: 'Tea.' }],
        usage: { input: 20, output: 10 },
      },
    ])
    expect(responses[0]).not.toHaveProperty('errorMessage')
  })
})

const half = [started, ...block(0, found).slice(0, 2), { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }]
const halfSaid = [...half, { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Te' } }]

describe('a continuation that fails after partial output', () => {
  it.each([
    ['is truncated', () => stream(halfSaid)],
    ['contains a stream error', () => stream([...halfSaid, { type: 'error', error: { type: 'overloaded_error', message: 'no' } }])],
  ])('retries from the paused blocks if it %s', async (_name, fail) => {
    const { sent, fetch } = service(() => stream(paused), fail)
    const agent = new Agent({ model: anthropic('claude-opus-4-6', { apiKey: 'k', fetch }), retry: fastRetry })
    const run = agent.prompt('Tea?')
    const shown = new Map<string, string>()
    for await (const event of run) {
      if (event.type !== 'messageUpdate' || event.delta.type !== 'text') continue
      shown.set(event.messageId, (shown.get(event.messageId) ?? '') + event.delta.delta)
    }
    const result = await run.result
    expect(result.status).toBe('completed')
    expect(sent[2]).toEqual(sent[1])
    const responses = result.messages.filter(({ role }) => role === 'assistant')
    expect(responses).toMatchObject([
      {
        stopReason: 'error',
        content: [{ type: 'thinking' }, { text: 'I look. ' }, { type: 'serviceTool', status: 'done' }, { text: 'Te' }],
      },
      {
        stopReason: 'stop',
        content: [{ type: 'thinking' }, { text: 'I look. ' }, { type: 'serviceTool', status: 'done' }, { text: 'Tea.' }],
      },
    ])
    expect(responses.map(({ id }) => shown.get(id))).toEqual(['I look. Te', 'I look. Tea.'])
    // Each of the three requests that were taken is charged once.
    expect(result.totalUsage).toMatchObject({ input: 30 })
  })
})

const search2 = { ...search, id: 'srv_2' }
const pausedAgain = [started, ...block(0, found), ...block(1, { type: 'text', text: 'And ' }), ...block(2, search2), ...ended('pause_turn')]
const restAgain = [
  started,
  ...block(0, { ...found, tool_use_id: 'srv_2' }),
  ...block(1, { type: 'text', text: 'tea.' }),
  ...ended('end_turn'),
]
const toolCall = [
  started,
  ...block(0, found),
  ...block(1, { type: 'tool_use', id: 'toolu_1', name: 'note', input: {} }, { type: 'input_json_delta', partial_json: '{"a":1}' }),
  ...ended('tool_use'),
]
const model = (fetch: typeof globalThis.fetch) => anthropic('claude-opus-4-6', { apiKey: 'k', fetch })
const overloaded = () => failure(529, 'overloaded_error')
const types = (message: Sent | undefined) => (message?.content as { type: string }[] | undefined)?.map(({ type }) => type)

describe('a paused response', () => {
  it('continues after a second pause and failures, without repeated text', async () => {
    const { sent, fetch } = service(
      () => stream(paused),
      overloaded,
      () => stream(pausedAgain),
      overloaded,
      () => stream(restAgain),
    )
    const result = await new Agent({ model: model(fetch), retry: fastRetry }).prompt('Tea?').result
    expect(result.text).toBe('I look. And tea.')
    expect(sent[2]).toEqual(sent[1])
    expect(sent[4]).toEqual(sent[3])
    const first = ['thinking', 'text', 'server_tool_use']
    expect(types(sent[4]?.at(-1))).toEqual([...first, 'web_search_tool_result', 'text', 'server_tool_use'])
  })

  it('continues with a tool call, and sends its result after the whole message', async () => {
    const { sent, fetch } = service(
      () => stream(paused),
      overloaded,
      () => stream(toolCall),
      () => stream(rest.slice(0, 1).concat(rest.slice(3))),
    )
    let runs = 0
    const note = defineTool({ name: 'note', description: 'Notes.', parameters: { type: 'object' }, execute: () => `noted ${++runs}` })
    const result = await new Agent({ model: model(fetch), tools: [note], retry: fastRetry }).prompt('Tea?').result
    expect(result).toMatchObject({ status: 'completed', text: 'Tea.' })
    expect(runs).toBe(1)
    expect(types(sent[3]?.at(-2))).toEqual(['thinking', 'text', 'server_tool_use', 'web_search_tool_result', 'tool_use'])
    expect(types(sent[3]?.at(-1))).toEqual(['tool_result'])
  })

  it('keeps the paused blocks if the run stops during the continuation', async () => {
    const { fetch } = service(
      () => stream(paused),
      () => new Response(new ReadableStream({ start: (body) => body.enqueue(bytesOf(halfSaid)) })),
    )
    const run = new Agent({ model: model(fetch), retry: fastRetry }).prompt('Tea?')
    for await (const event of run)
      if (event.type === 'messageUpdate' && event.delta.type === 'text' && event.delta.delta === 'Te') run.abort()
    const responses = (await run.result).messages.filter(({ role }) => role === 'assistant')
    expect(responses).toMatchObject([
      {
        stopReason: 'aborted',
        content: [{ type: 'thinking', signature: 'signed' }, { text: 'I look. ' }, { status: 'done' }, { text: 'Te' }],
      },
    ])
  })

  it('stays with the model that started it, despite a fallback', async () => {
    const [first, second] = [service(() => stream(paused), overloaded), service()]
    const result = await new Agent({ model: fallback([model(first.fetch), model(second.fetch)]), retry: fastRetry }).prompt('Tea?').result
    expect(result).toMatchObject({ status: 'completed', text: 'I look. Tea.' })
    expect([first.sent.length, second.sent.length]).toEqual([3, 0])
    expect(first.sent[2]).toEqual(first.sent[1])
  })
})

function bytesOf(events: readonly object[]): Uint8Array {
  return new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}
