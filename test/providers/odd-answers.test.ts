import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/types/errors.ts'
import { streamed as anthropicCall } from './anthropic/call.ts'
import { answering as awsAnswering, streamed as bedrockCall, frame } from './bedrock/call.ts'
import { answering, utf8 } from './bytes.ts'

function sse(...events: object[]): Uint8Array {
  return utf8(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

function messages(stopReason: string, usage: object): Uint8Array {
  const open = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } }
  return sse(
    { type: 'message_start', message: { usage } },
    open,
    { type: 'message_delta', delta: { stop_reason: stopReason } },
    { type: 'message_stop' },
  )
}

const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }

describe('token counts that are none', () => {
  it('count as nothing: Anthropic', async () => {
    const usage = { input_tokens: -5, output_tokens: '7', cache_read_input_tokens: -1, cache_creation_input_tokens: {} }
    expect((await anthropicCall(answering([messages('end_turn', usage)]))).message?.usage).toMatchObject(nothing)
  })

  it('count as nothing: Bedrock', async () => {
    const usage = { inputTokens: -5, outputTokens: '7', cacheReadInputTokens: -1, cacheWriteInputTokens: null, totalTokens: -6 }
    const frames = [frame('messageStart', {}), frame('messageStop', { stopReason: 'end_turn' }), frame('metadata', { usage })]
    expect((await bedrockCall(awsAnswering(frames))).message?.usage).toMatchObject(nothing)
  })
})

it('a reason to stop that is named like a property of every object is unknown all the same', async () => {
  const { error } = await anthropicCall(answering([messages('constructor', {})]))
  expect(error).toBeInstanceOf(ProviderError)
  expect(error).toMatchObject({ code: 'other', message: expect.stringContaining('constructor') })
})
