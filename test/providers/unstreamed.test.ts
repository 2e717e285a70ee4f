import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { bodyOf, fixture, seeded, shredded, utf8 } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

type Factory = typeof openai | typeof anthropic | typeof google | typeof openaiResponses

async function answered(factory: Factory, text: string | Uint8Array, type: string, random = seeded(1)) {
  const bytes = typeof text === 'string' ? utf8(text) : text
  const send: typeof fetch = async () => new Response(bodyOf(shredded(bytes, random)).stream, { headers: { 'content-type': type } })
  const { provider, config } = factory('m', { apiKey: 'key-0123456789', fetch: send })
  return outcomeOf(provider, plainRequest(config))
}

const completion = {
  id: 'c1',
  object: 'chat.completion',
  error: null,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Whole,\nand "well"' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'text', text: 'Whole' },
    { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a' } },
  ],
  stop_reason: 'tool_use',
  usage: { input_tokens: 3, output_tokens: 2 },
}
const chunks = [
  { candidates: [{ content: { parts: [{ text: 'Wh' }] } }] },
  {
    candidates: [{ content: { parts: [{ text: 'ole' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
  },
]

describe.each(['application/json', 'text/event-stream', 'text/plain'])('an unstreamed response under %s', (type) => {
  it.each<[string, Factory, object, string]>([
    ['Chat Completions', openai, completion, 'Whole,\nand "well"'],
    ['Messages', anthropic, message, 'Whole'],
    ['Gemini', google, chunks, 'Whole'],
  ])('decodes an unstreamed response: %s', async (_name, factory, body, text) => {
    for (const written of [JSON.stringify(body), `\n ${JSON.stringify(body, null, 2)}\n`]) {
      const { message: read, error } = await answered(factory, written, type)
      expect(error).toBeUndefined()
      expect(read?.content[0]).toMatchObject({ type: 'text', text })
      expect(read?.usage).toMatchObject({ input: 3, output: 2 })
    }
  })

  it('reports an unreadable response', async () => {
    const { error } = await answered(openaiResponses, JSON.stringify({ object: 'list', data: [] }), type)
    expect(error).toMatchObject({ code: 'api', isRetryable: false, message: expect.stringContaining('did not stream') })
  })

  it('retries a truncated response', async () => {
    const { error } = await answered(openai, JSON.stringify(completion).slice(0, -20), type)
    expect(error).toMatchObject({ code: 'network', isRetryable: true })
  })

  it('throws the error that the response contains', async () => {
    const { error } = await answered(openai, JSON.stringify({ error: { type: 'overloaded_error', message: 'busy' } }), type)
    expect(error).toMatchObject({ code: 'api', status: 529, isRetryable: true })
    const refused = await answered(
      openai,
      JSON.stringify({ ...completion, choices: null, base_resp: { status_code: 1002, status_msg: 'slow' } }),
      type,
    )
    expect(refused.error).toMatchObject({ code: 'rateLimited', isRetryable: true, message: expect.stringContaining('slow') })
  })
})

it('reads events on arrival, whatever the content type', async () => {
  const { message: read, events } = await answered(anthropic, fixture('anthropic/text.sse'), 'application/json')
  expect(read?.stopReason).toBe('stop')
  expect(events.length).toBeGreaterThan(2)
})
