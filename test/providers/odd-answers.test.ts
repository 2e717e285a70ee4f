import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/contract/errors.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { answer, streamed as anthropicCall, call, request, result, user } from './anthropic/call.ts'
import { answering as awsAnswering, streamed as bedrockCall, frame } from './bedrock/call.ts'
import { answering, bodyOf, sse } from './bytes.ts'

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

describe('invalid token counts', () => {
  it('counts invalid token counts as zero: Anthropic', async () => {
    const usage = { input_tokens: -5, output_tokens: '7', cache_read_input_tokens: -1, cache_creation_input_tokens: {} }
    expect((await anthropicCall(answering([messages('end_turn', usage)]))).message?.usage).toMatchObject(nothing)
  })

  it('counts invalid token counts as zero: Bedrock', async () => {
    const usage = { inputTokens: -5, outputTokens: '7', cacheReadInputTokens: -1, cacheWriteInputTokens: null, totalTokens: -6 }
    const frames = [frame('messageStart', {}), frame('messageStop', { stopReason: 'end_turn' }), frame('metadata', { usage })]
    expect((await bedrockCall(awsAnswering(frames))).message?.usage).toMatchObject(nothing)
  })
})

it('maps stop reasons named like Object.prototype members to an unknown reason', async () => {
  const { error } = await anthropicCall(answering([messages('constructor', {})]))
  expect(error).toBeInstanceOf(ProviderError)
  expect(error).toMatchObject({ code: 'other', message: expect.stringContaining('constructor') })
})

describe('null fragments', () => {
  it('ignores null fragments', async () => {
    const bytes = sse(
      { type: 'message_start', message: { usage: {}, content: {} } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: 0, signature: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: null } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 't', name: 'read', input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: null } },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    )
    const { message } = await anthropicCall(answering([bytes]))
    expect(message?.content).toEqual([
      { type: 'text', text: 'Hi' },
      { type: 'toolCall', id: 't', name: 'read', arguments: {} },
    ])
  })
})

it('reports the status of an error response whose body never ends', async () => {
  const refusing: typeof fetch = async () => new Response(bodyOf([], 'hang').stream, { status: 401 })
  const { error } = await anthropicCall(refusing, { idleTimeoutMs: 1 })
  expect(error).toMatchObject({ code: 'auth', status: 401, isRetryable: false })
})

it('throws a call error for arguments that cannot be serialized: Anthropic', async () => {
  const { config, provider } = anthropic('claude-test')
  const broken = call('t', {
    get path(): string {
      throw new RangeError('gone')
    },
  })
  const made = { ...request('claude-test'), model: config, messages: [user('Hi'), answer([broken]), result('t')] }
  await expect(provider.encode(made)).rejects.toMatchObject({
    name: 'ProviderError',
    code: 'other',
    message: expect.stringContaining('gone'),
  })
})
