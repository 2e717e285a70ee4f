import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { runs } from '../support/runs.ts'
import { answering as awsAnswering, frame } from './bedrock/call.ts'
import { answering, seeded, shredded, sse, utf8 } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

interface Whole {
  model: (pieces: Iterable<Uint8Array>) => Model
  /** A complete response, up to its terminal event. */
  bytes: Uint8Array
  /** Frames that a response may not hold behind its end. */
  frames: Uint8Array[]
}

const joined = (pieces: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(pieces))
const lines = (...events: object[]) => utf8(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
const converse = [
  ['messageStart', { role: 'assistant' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Tea.' } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['messageStop', { stopReason: 'end_turn' }],
  ['metadata', { usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 } }],
] as const
const damaged = frame('metadata', {}).map((byte, at) => (at === 20 ? byte ^ 1 : byte))
const sseFrames = [sse('{broken'), utf8('data: {"half'), sse({ error: { message: 'late' } }), utf8('event: error\ndata: {}\n\n')]

const services: Record<string, Whole> = {
  Bedrock: {
    model: (pieces) => bedrock('m', { fetch: awsAnswering(pieces) }),
    bytes: joined(converse.map(([type, fields]) => frame(type, fields))),
    frames: [frame('messageStart', {}), frame('throttlingException', { message: 'late' }), damaged, damaged.subarray(0, 15)],
  },
  'Bedrock as lines': {
    model: (pieces) => bedrock('m', { fetch: awsAnswering(pieces, 'close', 'application/x-ndjson'), maxEventChars: 200 }),
    bytes: lines(...converse.map(([type, fields]) => ({ [type]: fields }))),
    frames: [lines({ messageStart: {} }), utf8('{"half'), utf8('no JSON\n'), utf8('x'.repeat(300))],
  },
  Anthropic: {
    model: (pieces) => anthropic('m', { fetch: answering(pieces), maxEventChars: 200 }),
    bytes: sse(
      { type: 'message_start', message: { id: 'm', usage: { input_tokens: 7 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Tea.' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ),
    frames: [...sseFrames, utf8(`data: ${'x'.repeat(300)}`)],
  },
  'Chat Completions': {
    model: (pieces) => openai('m', { fetch: answering(pieces), maxEventChars: 200 }),
    bytes: sse(
      { choices: [{ index: 0, delta: { content: 'Tea.' }, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } },
      '[DONE]',
    ),
    frames: [...sseFrames, utf8(`data: ${'x'.repeat(300)}`)],
  },
  'the Responses API': {
    model: (pieces) => openaiResponses('m', { fetch: answering(pieces), maxEventChars: 400 }),
    bytes: sse(
      { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', content_index: 0, delta: 'Tea.' },
      { type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 7, output_tokens: 2 } } },
    ),
    frames: [...sseFrames, utf8(`data: ${'x'.repeat(500)}`)],
  },
}

describe.each(Object.entries(services))('a complete response of %s', (_name, { model, bytes, frames }) => {
  const said = async (pieces: Iterable<Uint8Array>) => {
    const { provider, config } = model(pieces)
    const { message, error } = await outcomeOf(provider, plainRequest(config))
    return error ?? { ...message, timestamp: 0 }
  }

  it('ignores data after the response in the same packet', async () => {
    const expected = await said([bytes])
    expect(expected).toMatchObject({ stopReason: 'stop', content: [{ text: 'Tea.' }], usage: { input: 7, output: 2 } })
    for (const tail of frames) expect(await said([joined([bytes, tail])])).toEqual(expected)
  })

  it('decodes the same message at any chunk boundary in and after the response', async () => {
    const expected = await said([bytes])
    const tails = fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 60 }), fc.constantFrom(...frames))
    await fc.assert(
      fc.asyncProperty(tails, fc.nat(), fc.nat(), async (tail, cut, seed) => {
        const all = joined([bytes, tail])
        const at = cut % all.length
        expect(await said([all.subarray(0, at), all.subarray(at)])).toEqual(expected)
        expect(await said(shredded(all, seeded(seed)))).toEqual(expected)
      }),
      { numRuns: runs(60, 2000) },
    )
  })
})
