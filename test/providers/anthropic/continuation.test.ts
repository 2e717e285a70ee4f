import { describe, expect, it } from 'vitest'
import { Agent } from '../../../src/index.ts'
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

  it.each(cases)('sends the paused blocks again, unchanged, after $name ($count times)', async ({ fail, count }) => {
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
