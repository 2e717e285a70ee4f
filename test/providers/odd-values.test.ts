import { describe, expect, it } from 'vitest'
import { textOf } from '../../src/contract/message/message.ts'
import { ProviderError } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { classifyError } from '../../src/providers.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answering as awsAnswering, streamed as bedrockCall, frame } from './bedrock/call.ts'
import { answering, utf8 } from './bytes.ts'
import { type Outcome, outcomeOf, plainRequest } from './model-call.ts'

type Json = Record<string, unknown>

const sse = (events: readonly unknown[]) => [utf8(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))]
const played = ({ config, provider }: Model): Promise<Outcome> =>
  outcomeOf(provider, plainRequest(config, { credential: 'sk-canary-0123456789' }))

const protocols: Record<string, (...events: Json[]) => Promise<Outcome>> = {
  Anthropic: (...events) =>
    played(
      anthropic('m', {
        fetch: answering(
          sse([
            { type: 'message_start', message: {} },
            ...events,
            { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
            { type: 'message_stop' },
          ]),
        ),
      }),
    ),
  'Chat Completions': (...events) =>
    played(openai('m', { fetch: answering(sse([...events, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }])) })),
  'the Responses API': (...events) =>
    played(openaiResponses('m', { fetch: answering(sse([...events, { type: 'response.completed', response: { status: 'completed' } }])) })),
  Gemini: (...events) => played(google('m', { fetch: answering(sse([...events, { candidates: [{ finishReason: 'STOP' }] }])) })),
  Bedrock: (...events) =>
    bedrockCall(
      awsAnswering([
        ...events.flatMap((event) => Object.entries(event).map(([type, fields]) => frame(type, fields))),
        frame('messageStop', { stopReason: 'end_turn' }),
        frame('metadata', {}),
      ]),
    ),
}

const block = (delta: unknown, type: unknown = 'content_block_delta') => ({ type, index: 0, delta })
const chat = (delta: unknown) => ({ choices: [{ index: 0, delta }] })
const output = (delta: unknown) => ({ type: 'response.output_text.delta', output_index: 0, delta })
const item = (value: unknown) => ({ type: 'response.output_item.done', output_index: 0, item: value })
const parts = (value: unknown) => ({ candidates: [{ content: { parts: value } }] })
const aws = (delta: unknown) => ({ contentBlockDelta: { contentBlockIndex: 0, delta } })

/** Pieces of an answer that cannot be read. */
const odd: [string, string, Json][] = [
  ['Anthropic', 'a text that is an object', block({ type: 'text_delta', text: { a: 'x' } })],
  ['Anthropic', 'a delta that is a number', block(7)],
  ['Anthropic', 'a delta without a type', block({ text: 'x' })],
  ['Anthropic', 'an event whose type is no text', block({ type: 'text_delta', text: 'x' }, { a: 1 })],
  ['Anthropic', 'an event without a type', block({ type: 'text_delta', text: 'x' }, null)],
  ['Anthropic', 'a block without a type', { type: 'content_block_start', index: 0, content_block: { id: 'a', name: 'f' } }],
  ['Anthropic', 'arguments of no call', block({ type: 'input_json_delta', partial_json: '{"a":1}' })],
  ['Chat Completions', 'a text that is an object', chat({ content: { a: 'x' } })],
  ['Chat Completions', 'a text that is a number', chat({ content: 7 })],
  ['Chat Completions', 'reasoning that is an object', chat({ reasoning: { a: 'x' } })],
  ['Chat Completions', 'a delta that is a text', chat('x')],
  ['Chat Completions', 'choices that are no list', { choices: 'x' }],
  ['Chat Completions', 'a choice that is a number', { choices: [7] }],
  ['Chat Completions', 'calls that are a number', chat({ tool_calls: 7 })],
  ['Chat Completions', 'a call of nothing', chat({ tool_calls: [{ a: 1 }] })],
  ['the Responses API', 'a text that is an object', output({ a: 'x' })],
  ['the Responses API', 'an event without a type', { output_index: 0, delta: 'x' }],
  ['the Responses API', 'an item that is a number', item(7)],
  ['the Responses API', 'parts that are a number', item({ type: 'message', id: 'm', content: 7 })],
  ['Gemini', 'a text that is an object', parts([{ text: { a: 'x' } }])],
  ['Gemini', 'parts that are a text', parts('x')],
  ['Gemini', 'a part that is a number', parts([7])],
  ['Gemini', 'content that is a text', { candidates: [{ content: 'x' }] }],
  ['Gemini', 'candidates that are a text', { candidates: 'x' }],
  ['Gemini', 'a call without a name', parts([{ functionCall: { args: { a: 1 } } }])],
  ['Bedrock', 'a text that is an object', aws({ text: { a: 'x' } })],
  ['Bedrock', 'a delta that is a number', aws(7)],
  ['Bedrock', 'reasoning that is a number', aws({ reasoningContent: 7 })],
  ['Bedrock', 'withheld reasoning that is no base64', aws({ reasoningContent: { redactedContent: '?' } })],
  ['Bedrock', 'arguments under another name', aws({ toolUse: { text: 'x' } })],
  ['Bedrock', 'arguments of no call', aws({ toolUse: { input: '{"a":1}' } })],
  ['Bedrock', 'a start that is a number', { contentBlockStart: { contentBlockIndex: 0, start: 7 } }],
]

describe('an unreadable value in a response', () => {
  it.each(odd)('fails on an unreadable value: %s: %s', async (protocol, _what, event) => {
    const { error } = (await protocols[protocol]?.(event)) ?? {}
    expect(error).toBeInstanceOf(ProviderError)
    expect(error).toMatchObject({ code: 'network', message: expect.stringMatching(/ sent .* as .*, which is not valid/) })
    expect(String(error)).not.toMatch(/undefined|\[object|Cannot/)
  })
})

/** Nothing, in the words of many languages. */
const nothing = [null, undefined, '', 0, false, {}, []]

describe('empty values', () => {
  const places: [string, (value: unknown) => Json][] = [
    ['Anthropic', (value) => block({ type: 'text_delta', text: value })],
    ['Anthropic', (value) => block(value)],
    ['Chat Completions', (value) => chat({ content: value })],
    ['Chat Completions', (value) => chat({ tool_calls: value, refusal: value, reasoning: value, function_call: value })],
    ['Chat Completions', (value) => chat(value)],
    ['Chat Completions', (value) => ({ choices: value })],
    ['the Responses API', (value) => output(value)],
    ['the Responses API', (value) => item(value)],
    ['Gemini', (value) => parts(value)],
    ['Gemini', (value) => parts([value])],
    ['Gemini', (value) => ({ candidates: value })],
    ['Bedrock', (value) => aws(value)],
    ['Bedrock', (value) => aws({ text: value })],
  ]
  it.each(places)('ignores an empty value: %s %#', async (protocol, event) => {
    for (const value of nothing) {
      const { error, message } = (await protocols[protocol]?.(event(value))) ?? {}
      expect({ value, error, content: message?.content }).toEqual({ value, error: undefined, content: [] })
    }
  })
})

describe('text in another form', () => {
  const forms: [string, Json][] = [
    ['Chat Completions', chat({ content: { type: 'text', text: 'hi' } })],
    ['Chat Completions', chat({ content: [{ text: 'h' }, { type: 'text', text: 'i' }] })],
    ['Chat Completions', { choices: [{ index: {}, delta: { content: 'hi' } }] }],
    ['Chat Completions', { choices: [{ index: -1, delta: { content: 'hi', reasoning_details: [{ type: { toString: 1 } }] } }] }],
    ['Gemini', { candidates: [{ index: -1, content: { parts: [{ text: 'hi' }] } }] }],
    ['Anthropic', block({ type: 'text_delta', text: [{ type: 'text', text: 'hi' }] })],
    ['the Responses API', item({ type: 'message', id: 'm', content: 'hi' })],
    ['Bedrock', aws({ text: { text: 'hi' } })],
  ]
  it.each(forms)('reads text in an unusual form: %s %#', async (protocol, event) => {
    expect(textOf((await protocols[protocol]?.(event))?.message?.content ?? [])).toBe('hi')
  })

  it('reads the text of chunks sent in a list', async () => {
    const chunks = [chat({ content: 'h' }), chat({ content: 'i' })]
    expect(textOf((await played(openai('m', { fetch: answering(sse([[...chunks, finish]])) }))).message?.content ?? [])).toBe('hi')
    const both = [parts([{ text: 'h' }]), { candidates: [{ content: { parts: [{ text: 'i' }] }, finishReason: 'STOP' }] }]
    expect(textOf((await played(google('m', { fetch: answering(sse([both])) }))).message?.content ?? [])).toBe('hi')
  })
})

const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }

describe('calls in irregular fragments', () => {
  const call = (index: unknown, fields: Json) => chat({ tool_calls: [{ index, ...fields }] })
  const run = async (...events: Json[]) =>
    (await played(openai('m', { fetch: answering(sse([...events, finish])) }))).message?.content.map((each) =>
      each.type === 'toolCall' && each.invalidArguments === undefined ? each.arguments : 'refused',
    )

  it('appends a fragment with a new index but without id and name', async () => {
    const open = call(0, { id: 'a', function: { name: 'f', arguments: '' } })
    expect(await run(open, call(1, { function: { arguments: '{"a":1}' } }))).toEqual([{ a: 1 }])
    const text = call(0, { id: 'a', function: { name: 'f', arguments: '{"city":"San F' } })
    const rest = call(0, { function: { arguments: 'sco"}' } })
    expect(await run(text, call(7, { function: { arguments: 'ranci' } }), rest)).toEqual([{ city: 'San Francisco' }])
  })

  it('appends a fragment with an invalid index', async () => {
    const open = call(0, { id: 'a', function: { name: 'f', arguments: '{"a"' } })
    for (const index of [-1, 0.5, 'x', [], {}, true, 1e300]) {
      expect(await run(open, call(index, { function: { arguments: ':1}' } }))).toEqual([{ a: 1 }])
    }
  })
})

describe('a repeated response', () => {
  it('reads a repeated response once: Gemini', async () => {
    const first = parts([{ text: 'Hel' }])
    const last = { candidates: [{ content: { parts: [{ text: 'lo' }] }, finishReason: 'STOP' }] }
    const { message } = await played(google('m', { fetch: answering(sse([first, last, first, last])) }))
    expect(textOf(message?.content ?? [])).toBe('Hello')
  })

  it('rejects a repeated response: Bedrock', async () => {
    const again = [
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'A' } }),
      frame('messageStop', { stopReason: 'end_turn' }),
    ]
    const { error } = await bedrockCall(awsAnswering([...again, ...again]))
    expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('second message') })
  })
})

it('ignores implausible token counts', async () => {
  const usage = '{"prompt_tokens":1e400,"completion_tokens":1e308,"total_tokens":5}'
  const done = `data: {"choices":[{"index":0,"delta":{"content":"A"},"finish_reason":"stop"}],"usage":${usage}}\n\n`
  const { message } = await played(openai('m', { fetch: answering([utf8(done)]) }))
  expect(message?.usage).toMatchObject({ input: 0, output: 0, totalTokens: 5 })
})

it('reports a missing stop reason', async () => {
  const { error } = await bedrockCall(awsAnswering([frame('messageStop', {}), frame('metadata', {})]))
  expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('without a reason') })
})

const deep = (open: string, close: string, levels: number) => JSON.parse(open.repeat(levels) + 1 + close.repeat(levels))
const values: [string, unknown][] = [
  ['an object', deep('{"a":', '}', 5_000)],
  ['a list', deep('[', ']', 5_000)],
]
/** `JSON.stringify` cannot write what is that deep; services can. */
const raw = (text: string) => [utf8(text.replaceAll('"DEEP"', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`))]

describe('values nested thousands of levels deep', () => {
  const done = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
  const bodies: [string, (text: string) => Model, string][] = [
    [
      'Chat Completions',
      (text) => openai('m', { fetch: answering(raw(text)) }),
      `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"DEEP"}}]}}]}\n\n${done}`,
    ],
    [
      'the Responses API',
      (text) => openaiResponses('m', { fetch: answering(raw(text)) }),
      'data: {"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"f","arguments":"DEEP"}}\n\ndata: {"type":"response.completed","response":{}}\n\n',
    ],
    [
      'Gemini',
      (text) => google('m', { fetch: answering(raw(text)) }),
      'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":"DEEP"}}]},"finishReason":"STOP"}]}\n\n',
    ],
    [
      'Anthropic',
      (text) => anthropic('m', { fetch: answering(raw(text)) }),
      'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":"DEEP"}}\n\ndata: {"type":"content_block_stop","index":0}\n\ndata: {"type":"message_stop"}\n\n',
    ],
  ]
  it.each(bodies)('marks arguments nested thousands of levels deep as invalid: %s', async (_protocol, model, text) => {
    const { message, error } = await played(model(text))
    expect(error).toBeUndefined()
    expect(message?.content).toMatchObject([{ name: 'f', arguments: {}, invalidArguments: expect.stringContaining('200 levels') }])
  })

  it('marks a deeply nested argument path as invalid: Gemini', async () => {
    const partialArgs = [{ jsonPath: `$${'.a'.repeat(5_000)}`, numberValue: 1 }]
    const { message } = (await protocols.Gemini?.(parts([{ functionCall: { name: 'f', partialArgs } }]))) ?? {}
    expect(message?.content).toMatchObject([{ arguments: {}, invalidArguments: expect.stringContaining('200 levels') }])
  })

  it.each(values)('creates an error from a deeply nested body: %s', (_kind, value) => {
    for (const body of [{ error: value }, { error: { message: value, code: value, type: { toString: 1 } } }, value]) {
      const error = classifyError({ service: 'X', body })
      expect(String(error)).not.toMatch(/stack|Cannot/)
    }
  })
})

describe('arguments that JSON would change', () => {
  const odd = ['{"n":1e400}', '{"n":-0}', '[{"n":[1e999]}]']
  it.each(odd)('marks arguments that JSON would change as invalid: %s', async (args) => {
    const part = (text: string) => `data: ${text}\n\n`
    const gemini = part(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP"}]}`)
    const call = `{"index":0,"id":"a","function":{"name":"f","arguments":${args}}}`
    const chatCall = part(`{"choices":[{"index":0,"delta":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`)
    for (const model of [google('m', { fetch: answering([utf8(gemini)]) }), openai('m', { fetch: answering([utf8(chatCall)]) })]) {
      const { message } = await played(model)
      expect(message?.content).toMatchObject([{ arguments: {}, invalidArguments: expect.any(String) }])
    }
  })
})

it('processes ten thousand calls in one response without blocking the thread', async () => {
  const call = (index: number) =>
    chat({ tool_calls: [{ index, id: index % 2 === 0 ? `c${index}` : 'same', function: { name: 'f', arguments: '{}' } }] })
  const { message } = (await protocols['Chat Completions']?.(...Array.from({ length: 10_000 }, (_, index) => call(index)))) ?? {}
  expect(new Set(message?.content.map((block) => block.type === 'toolCall' && block.id)).size).toBe(10_000)
})
