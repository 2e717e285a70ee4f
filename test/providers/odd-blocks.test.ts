import { describe, expect, it } from 'vitest'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import type { Model } from '../../src/types/model/model.ts'
import { streamed as anthropicCall } from './anthropic/call.ts'
import { answering as awsAnswering, streamed as bedrockCall, frame } from './bedrock/call.ts'
import { answering, utf8 } from './bytes.ts'
import { type Outcome, outcomeOf, plainRequest } from './model-call.ts'

type Json = Record<string, unknown>

const bytes = (events: readonly unknown[]) => [utf8(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))]
const played = ({ config, provider }: Model): Promise<Outcome> =>
  outcomeOf(provider, plainRequest(config, { credential: 'sk-canary-0123456789' }))

/** Blocks of an answer of Anthropic between its first and its last events. */
function anthropicAnswer(...events: readonly Json[]): Promise<Outcome> {
  const first = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 1 } } }
  const last = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }]
  return anthropicCall(answering(bytes([first, ...events, ...last])))
}

function bedrockAnswer(...events: readonly (readonly [string, Json])[]): Promise<Outcome> {
  const all = [
    ['messageStart', { role: 'assistant' }],
    ...events,
    ['messageStop', { stopReason: 'tool_use' }],
    ['metadata', { usage: {} }],
  ] as const
  return bedrockCall(awsAnswering(all.map(([type, event]) => frame(type, event))))
}

const chatAnswer = (...chunks: readonly unknown[]) => played(openai('m', { fetch: answering(bytes(chunks)) }))
const geminiAnswer = (...chunks: readonly unknown[]) => played(google('m', { fetch: answering(bytes(chunks)) }))

/** What would be run, and what would not. */
function calls({ message }: Outcome) {
  return message?.content.flatMap((block) => {
    if (block.type !== 'toolCall') return []
    return [block.invalidArguments === undefined ? block.arguments : 'refused']
  })
}

const texts = ({ message }: Outcome) => message?.content.map((block) => (block.type === 'text' ? block.text : block.type))

const start = (input: unknown, index?: number, id = 't1'): Json => ({
  type: 'content_block_start',
  ...(index === undefined ? {} : { index }),
  content_block: { type: 'tool_use', id, name: 'read', input },
})
const json = (partial_json: unknown, index?: number): Json => ({
  type: 'content_block_delta',
  ...(index === undefined ? {} : { index }),
  delta: { type: 'input_json_delta', partial_json },
})
const stop = (index?: number): Json => ({ type: 'content_block_stop', ...(index === undefined ? {} : { index }) })

describe('Anthropic arguments', () => {
  const cases: Record<string, [Json[], unknown[]]> = {
    'in the block start': [[start({ q: 1 }, 0), stop(0)], [{ q: 1 }]],
    'as a string in the block start': [[start('{"q":1}', 0), stop(0)], [{ q: 1 }]],
    'in the start of an unfinished block': [[start({ q: 1 }, 0)], [{ q: 1 }]],
    'of an unfinished block': [[start({}, 0), json('{"q":1}', 0)], [{ q: 1 }]],
    'of an unfinished block, truncated': [[start({}, 0), json('{"q":', 0)], ['refused']],
    'of a single unfinished block without any': [[start({}, 0)], [{}]],
    'of an unfinished block without any, next to a finished one': [
      [start({}, 0), start({}, 1, 't2'), json('{"q":2}', 1), stop(1)],
      ['refused', { q: 2 }],
    ],
    'of a block without any': [[start({}, 0), stop(0)], [{}]],
    'as an object': [[start({}, 0), json({ q: 1 }, 0), stop(0)], [{ q: 1 }]],
    'as a value of another type': [[start({}, 0), json(5, 0), stop(0)], ['refused']],
    'of a block started twice': [[start({}, 0), start({}, 0), json('{"q":1}', 0), stop(0)], [{ q: 1 }]],
    'of two blocks with the same index': [
      [start({}, 0), json('{"q":1}', 0), stop(0), start({}, 0, 't2'), json('{"q":2}', 0), stop(0)],
      [{ q: 1 }, { q: 2 }],
    ],
    'of two blocks with the same index, the first unfinished': [
      [start({}, 0), json('{"q":1}', 0), start({}, 0, 't2'), json('{"q":2}', 0), stop(0)],
      [{ q: 1 }, { q: 2 }],
    ],
    'of two blocks without an index': [
      [start({}), json('{"q":1}'), stop(), start({}, undefined, 't2'), json('{"q":2}'), stop()],
      [{ q: 1 }, { q: 2 }],
    ],
  }
  it.each(Object.entries(cases))('reads Anthropic arguments %s', async (_name, [events, expected]) => {
    expect(calls(await anthropicAnswer(...events))).toEqual(expected)
  })
})

it('reads Anthropic text under a used block index as a separate block', async () => {
  const text = (value: string): Json => ({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: value } })
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'C' } }
  const outcome = await anthropicAnswer(text('A'), stop(0), text('B'), stop(0), start({}, 0), stop(0), delta)
  expect(texts(outcome)).toEqual(['A', 'B', 'toolCall', 'C'])
})

const opening = (changes: Json = {}, contentBlockIndex: number | undefined = 0) =>
  ['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: 't1', name: 'read', ...changes } } }] as const
const input = (value: unknown, contentBlockIndex: number | undefined = 0) =>
  ['contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: value } } }] as const
const ending = (contentBlockIndex: number | undefined = 0) => ['contentBlockStop', { contentBlockIndex }] as const
const unindexed = (type: string, rest: Json = {}) => [type, rest] as const
const two = { toolUseId: 't2', name: 'read' }

describe('Bedrock arguments', () => {
  const cases: Record<string, [(readonly [string, Json])[], unknown[]]> = {
    'as an object': [[opening(), input({ q: 1 }), ending()], [{ q: 1 }]],
    'in the block start': [[opening({ input: { q: 1 } }), ending()], [{ q: 1 }]],
    'of a block without any': [[opening(), ending()], [{}]],
    'of a single unfinished block without any': [[opening()], [{}]],
    'of an unfinished block without any, next to a finished one': [
      [opening(), opening(two, 1), input('{"q":2}', 1), ending(1)],
      ['refused', { q: 2 }],
    ],
    'of an unfinished block, truncated': [[opening(), input('{"q":')], ['refused']],
    'of an unfinished block': [[opening(), input('{"q":1}')], [{ q: 1 }]],
    'of a block started twice': [[opening(), opening(), input('{"q":1}'), ending()], [{ q: 1 }]],
    'of two blocks with the same index': [
      [opening(), input('{"q":1}'), ending(), opening(two), input('{"q":2}'), ending()],
      [{ q: 1 }, { q: 2 }],
    ],
    'of two blocks without an index': [
      [
        unindexed('contentBlockStart', { start: { toolUse: { toolUseId: 't1', name: 'read' } } }),
        unindexed('contentBlockDelta', { delta: { toolUse: { input: '{"q":1}' } } }),
        unindexed('contentBlockStop'),
        unindexed('contentBlockStart', { start: { toolUse: two } }),
        unindexed('contentBlockDelta', { delta: { toolUse: { input: '{"q":2}' } } }),
        unindexed('contentBlockStop'),
      ],
      [{ q: 1 }, { q: 2 }],
    ],
  }
  it.each(Object.entries(cases))('reads Bedrock arguments %s', async (_name, [events, expected]) => {
    expect(calls(await bedrockAnswer(...events))).toEqual(expected)
  })
})

it('reads Bedrock text after the end of a block as a separate block', async () => {
  const text = (value: string) => ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: value } }] as const
  expect(texts(await bedrockAnswer(text('A'), ending(), text('B'), ending()))).toEqual(['A', 'B'])
})

const toolCall = (fields: Json) => ({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 't1', function: fields }] } }] })
const finished = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }

describe('Chat Completions arguments', () => {
  const cases: Record<string, [unknown[], unknown[]]> = {
    'as an object': [[toolCall({ name: 'read', arguments: { q: 1 } }), finished], [{ q: 1 }]],
    'as a value of another type': [[toolCall({ name: 'read', arguments: 5 }), finished], ['refused']],
    'of a block without any': [[toolCall({ name: 'read' }), finished], [{}]],
    'sent twice for the same call': [
      [toolCall({ name: 'read', arguments: '{"q":1}' }), toolCall({ arguments: '{"q":1}' }), finished],
      [{ q: 1 }],
    ],
    'sent twice with different values': [
      [toolCall({ name: 'read', arguments: '{"q":1}' }), toolCall({ arguments: '{"q":2}' }), finished],
      ['refused'],
    ],
  }
  it.each(Object.entries(cases))('reads Chat Completions arguments %s', async (_name, [events, expected]) => {
    expect(calls(await chatAnswer(...events))).toEqual(expected)
  })

  it('rejects a call without arguments and stop reason', async () => {
    const done = utf8('data: [DONE]\n\n')
    const fetch = answering([...bytes([toolCall({ name: 'read', arguments: '' })]), done])
    expect(calls(await played(openai('m', { fetch })))).toEqual(['refused'])
  })
})

describe('a second message in the same stream', () => {
  it('rejects a second message in an Anthropic stream', async () => {
    const again = { type: 'message_start', message: { id: 'msg_2', usage: {} } }
    expect((await anthropicAnswer(again)).error).toMatchObject({ code: 'network', message: expect.stringContaining('second message') })
  })

  it('rejects a second message in a Bedrock stream', async () => {
    const { error } = await bedrockAnswer(['messageStart', { role: 'assistant' }])
    expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('second message') })
  })

  it('rejects a second message in a Chat Completions stream', async () => {
    const say = (id: string, content: string, finish_reason: string | null) => ({
      id,
      choices: [{ index: 0, delta: { content }, finish_reason }],
    })
    const { error } = await chatAnswer(say('a', 'One', 'stop'), say('b', 'Two', 'stop'))
    expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('second message') })
  })

  it('rejects a second message in a Responses stream', async () => {
    const { openaiResponses } = await import('../../src/providers/openai-responses/index.ts')
    const created = (id: string) => ({ type: 'response.created', response: { id } })
    const say = { type: 'response.output_text.delta', output_index: 0, delta: 'One' }
    const end = { type: 'response.completed', response: { id: 'b', status: 'completed' } }
    const { error } = await played(openaiResponses('m', { fetch: answering(bytes([created('a'), say, created('b'), say, end])) }))
    expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('second message') })
  })

  it('rejects a second message in a Gemini stream', async () => {
    const say = (responseId: string, text: string) => ({
      responseId,
      candidates: [{ index: 0, content: { parts: [{ text }] }, finishReason: 'STOP' }],
    })
    const { error } = await geminiAnswer(say('a', 'One'), say('b', 'Two'))
    expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('second message') })
  })
})
