import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/contract/errors.ts'
import type { Content } from '../../src/contract/message/content.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answering as awsAnswering, frame } from './bedrock/call.ts'
import { answering, sse, utf8 } from './bytes.ts'
import { type Outcome, outcomeOf, plainRequest, sentBody, user } from './model-call.ts'

type Json = Record<string, unknown>
type Service = {
  model: (chunks: readonly unknown[]) => Model
  call: (id: string) => unknown[]
  result: (id: string, output: unknown) => unknown[]
  end: unknown[]
}

const events = (chunks: readonly unknown[]) =>
  utf8(
    chunks
      .map((chunk) => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk)))
      .map((data) => `data: ${data}\n\n`)
      .join(''),
  )
const block = (index: number, content_block: Json) => [
  { type: 'content_block_start', index, content_block },
  { type: 'content_block_stop', index },
]
const part = (fields: Json, finishReason?: string) => ({ candidates: [{ content: { parts: [fields] }, finishReason }] })

const services: Record<string, Service> = {
  anthropic: {
    model: (chunks) =>
      anthropic('claude-test', { fetch: answering([events([{ type: 'message_start', message: { id: 'm' } }, ...chunks])]) }),
    call: (id) => block(0, { type: 'server_tool_use', id, name: 'web_search', input: {} }),
    result: (id, output) => block(1, { type: 'web_search_tool_result', tool_use_id: id, content: [{ type: 'x', output }] }),
    end: [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }],
  },
  responses: {
    model: (chunks) => openaiResponses('gpt-test', { fetch: answering([events(chunks)]) }),
    call: (id) => [
      { type: 'response.output_item.done', item: { type: 'shell_call', id, call_id: id, environment: { type: 'container_reference' } } },
    ],
    result: (id, output) => [
      { type: 'response.output_item.done', item: { type: 'shell_call_output', id: `${id}o`, call_id: id, output: [output] } },
    ],
    end: [{ type: 'response.completed', response: { status: 'completed' } }],
  },
  gemini: {
    model: (chunks) => google('gemini-3.8-flash', { fetch: answering([sse(...chunks)]) }),
    call: (id) => [part({ toolCall: { id, toolType: 'URL_CONTEXT', args: {} }, thoughtSignature: 'c2ln' })],
    result: (id, output) => [part({ toolResponse: { id, toolType: 'URL_CONTEXT', response: { output } }, thoughtSignature: 'c2ln' })],
    end: [part({ text: '.' }, 'STOP')],
  },
  bedrock: {
    model: (chunks) =>
      bedrock('us.amazon.nova-2-lite-v1:0', {
        region: 'us-east-1',
        fetch: awsAnswering((chunks as [string, Json][]).map(([type, data]) => frame(type, data))),
      }),
    call: (id) => [
      [
        'contentBlockStart',
        { contentBlockIndex: 0, start: { toolUse: { toolUseId: id, name: 'nova_grounding', type: 'server_tool_use' } } },
      ],
      ['contentBlockStop', { contentBlockIndex: 0 }],
    ],
    result: (id, output) => [
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: id, type: 'nova_grounding_result' } } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolResult: [{ json: { output } }] } }],
      ['contentBlockStop', { contentBlockIndex: 1 }],
    ],
    end: [
      ['messageStop', { stopReason: 'end_turn' }],
      ['metadata', {}],
    ],
  },
  chat: {
    model: (chunks) => openai('gpt-5.2', { fetch: answering([sse(...chunks)]) }),
    call: (id) => [{ choices: [{ delta: { executed_tools: [{ index: id, type: 'search', arguments: '{}' }] } }] }],
    result: (id, output) => [{ choices: [{ delta: { executed_tools: [{ index: id, type: 'search', output }] } }] }],
    end: [{ choices: [{ delta: { content: '.' }, finish_reason: 'stop' }] }],
  },
}

const toolsOf = ({ message }: Outcome) => (message?.content ?? []).filter((each: Content) => each.type === 'serviceTool')

describe.each(Object.entries(services))('hosted tool calls of %s', (name, { model, call, result, end }) => {
  const played = async (...chunks: readonly unknown[]) => {
    const { provider, config } = model([...chunks, ...end])
    const outcome = await outcomeOf(provider, plainRequest(config))
    const { message } = outcome
    // Whatever came, the next request can be made, and a store can keep it.
    if (message !== undefined) {
      expect(structuredClone(message)).toEqual(message)
      await sentBody(provider, plainRequest(config, { messages: [user('a'), message, user('b')] }))
    }
    return outcome
  }

  it('keeps every result of hosted tool calls with the same id', async () => {
    const outcome = await played(...call('a'), ...result('a', 'first'), ...call('a'), ...result('a', 'second'))
    expect(outcome.error).toBeUndefined()
    expect(JSON.stringify(toolsOf(outcome))).toContain('second')
  })

  it('creates a hosted tool call for a result without one', async () => {
    const outcome = await played(...result('nobody', 'found'))
    expect(outcome.error).toBeUndefined()
    expect(JSON.stringify(outcome.message?.content)).toContain('found')
  })

  it.each(['__proto__', 'constructor', 'hasOwnProperty', ''])('accepts the tool name %j', async (id) => {
    const outcome = await played(...call(id), ...result(id, 'found'))
    expect(outcome.error).toBeUndefined()
    expect(JSON.stringify(outcome.message)).toContain('found')
    expect(Object.prototype).not.toHaveProperty('found')
  })

  // Bedrock's frames are written from values here, which no writer of JSON takes that deep.
  it.skipIf(name === 'bedrock')('returns a message or an error for an endlessly nested result', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const chunks = result('a', 'MARK').map((chunk) => JSON.stringify(chunk).replace('"MARK"', () => deep))
    const { provider, config } = model([...call('a'), ...chunks, ...end])
    const { message, error } = await outcomeOf(provider, plainRequest(config))
    expect(message !== undefined || error instanceof ProviderError).toBe(true)
  })

  it('accepts results nested more than a thousand levels deep', async () => {
    let deep: unknown = 'end'
    for (let level = 0; level < 1500; level += 1) deep = [deep]
    const { message, error } = await played(...call('a'), ...result('a', deep))
    expect(error).toBeUndefined()
    expect(JSON.stringify(message)).toContain('end')
  })
})

describe('large responses of one kind', () => {
  const text = `${'😀'.repeat(200_000)}end`
  const many = Array.from({ length: 10_000 }, (_, at) => ({
    type: 'url_citation',
    url: `https://e.example/${at}`,
    start_index: 200_000,
    end_index: 200_003,
  }))
  const whole = { range: { start: 400_000, end: 400_003 } }

  it('reads many citations of a long text in bounded time', async () => {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text, annotations: many }] }
    const place = { output_index: 0, item_id: 'msg_1', content_index: 0 }
    const responses = openaiResponses('gpt-test', {
      fetch: answering([
        events([
          { type: 'response.output_text.delta', ...place, delta: text },
          ...many.map((annotation) => ({ type: 'response.output_text.annotation.added', ...place, annotation })),
          { type: 'response.output_item.done', output_index: 0, item },
          { type: 'response.completed', response: { status: 'completed' } },
        ]),
      ]),
    })
    const annotations = many.map(({ type, ...rest }) => ({ type, [type]: rest }))
    const chat = openai('gpt-test', {
      fetch: answering([sse({ choices: [{ index: 0, delta: { content: text, annotations }, finish_reason: 'stop' }] })]),
    })
    for (const { provider, config } of [responses, chat]) {
      const { message } = await outcomeOf(provider, plainRequest(config))
      const [block] = message?.content ?? []
      expect(block?.type === 'text' && block.citations?.at(-1)).toMatchObject(whole)
      expect(block?.type === 'text' && block.citations?.length).toBe(10_000)
    }
  })

  it('fails a response with endless blocks without a retry', async () => {
    const blocks = Array.from({ length: 10_001 }, (_, index) => block(index, { type: 'hologram', index })).flat()
    const { provider, config } = anthropic('claude-test', {
      fetch: answering([events([{ type: 'message_start', message: { id: 'm' } }, ...blocks])]),
    })
    const { error } = await outcomeOf(provider, plainRequest(config))
    expect(error).toMatchObject({ code: 'api', isRetryable: false, message: expect.stringContaining('10000 blocks') })
  })
})
