import { describe, expect, it } from 'vitest'

import { type AssistantMessage, textOf } from '../../../src/contract/message/message.ts'
import { answering, utf8 } from '../bytes.ts'
import { type Outcome, streamed } from './call.ts'

type Event = Record<string, unknown>

const usage = { input_tokens: 3, output_tokens: 4 }
const completed = (output: unknown[] = []): Event => ({ type: 'response.completed', response: { status: 'completed', output, usage } })
const text = (delta: string, changes: Event = {}): Event => ({
  type: 'response.output_text.delta',
  output_index: 0,
  item_id: 'msg_1',
  content_index: 0,
  delta,
  ...changes,
})
const added = (item: Event, output_index: number | undefined = 0): Event => ({ type: 'response.output_item.added', output_index, item })
const done = (item: Event, output_index: number | undefined = 0): Event => ({ type: 'response.output_item.done', output_index, item })
const message = (...texts: string[]): Event => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: texts.map((each) => ({ type: 'output_text', text: each })),
})
const call = (changes: Event = {}): Event => ({ type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'find', ...changes })
const args = (delta: unknown, changes: Event = {}): Event => ({
  type: 'response.function_call_arguments.delta',
  output_index: 0,
  item_id: 'fc_1',
  delta,
  ...changes,
})

const play = (...events: Event[]): Promise<Outcome> =>
  streamed(answering([utf8(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))]))

/** The answer, and whether what was shown live is what is in the history. */
async function answered(...events: Event[]): Promise<AssistantMessage> {
  const { message: answer, error, events: emitted } = await play(...events)
  expect(error).toBeUndefined()
  if (answer === undefined) throw new Error('no answer')
  const live = emitted.map((event) => (event.type === 'text' ? event.delta : '')).join('')
  expect(live).toBe(textOf(answer.content))
  const thought = answer.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('')
  expect(emitted.map((event) => (event.type === 'thinking' ? event.delta : '')).join('')).toBe(thought)
  return answer
}

const calls = ({ content }: AssistantMessage) =>
  content.flatMap((block) => (block.type === 'toolCall' ? [{ args: block.arguments, invalid: block.invalidArguments }] : []))

describe('a repeated item', () => {
  const open = added({ type: 'message', id: 'msg_1' })
  const whole = (...texts: string[]) => [done(message(...texts)), completed([message(...texts)])]
  const cases: Record<string, [Event[], string]> = {
    'deltas with another content_index': [[open, text('Hello', { content_index: 1 }), ...whole('Hello')], 'Hello'],
    'a new content_index for each delta': [[open, text('Hel'), text('lo', { content_index: 1 }), ...whole('Hello')], 'Hello'],
    'one content_index for two parts': [[open, text('Hello '), text('world'), ...whole('Hello ', 'world')], 'Hello world'],
    'deltas without a content_index': [[open, text('Hello', { content_index: undefined }), ...whole('', 'Hello')], 'Hello'],
    'a remainder only in the item': [[open, text('Hel', { content_index: 3 }), ...whole('Hello')], 'Hello'],
    'a part only in the item': [[open, text('Hello', { content_index: 1 }), ...whole('Hello', ' world')], 'Hello world'],
    'parts in another order': [[open, text('B', { content_index: 1 }), text('A'), ...whole('A', 'B')], 'BA'],
    'deltas with different text': [[open, text('Hallo', { content_index: 2 }), ...whole('Hello')], 'Hallo'],
    'deltas with another output_index and id': [
      [text('Hello', { output_index: 4, item_id: 'tmp' }), done(message('Hello')), completed([message('Hello')])],
      'Hello',
    ],
    'an output without item ends': [[open, text('Hello', { content_index: 1 }), completed([message('Hello')])], 'Hello'],
  }
  it.each(Object.entries(cases))('reads a repeated item once: %s', async (_name, [events, expected]) => {
    expect(textOf((await answered(...events)).content)).toBe(expected)
  })

  const summary = (delta: string, changes: Event = {}): Event => ({
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    item_id: 'rs_1',
    summary_index: 0,
    delta,
    ...changes,
  })
  const reasoning = (summaries: string[], contents: string[] = []): Event => ({
    type: 'reasoning',
    id: 'rs_1',
    summary: summaries.map((each) => ({ type: 'summary_text', text: each })),
    content: contents.map((each) => ({ type: 'reasoning_text', text: each })),
  })
  const thinking: Record<string, [Event[], string]> = {
    'a summary with another summary_index': [[summary('Hm.', { summary_index: 1 }), done(reasoning(['Hm.']))], 'Hm.'],
    'a summary streamed as raw reasoning': [[summary('Hm.', { type: 'response.reasoning_text.delta' }), done(reasoning(['Hm.']))], 'Hm.'],
    'raw reasoning streamed as a summary': [[summary('Hm.'), done(reasoning([], ['Hm.']))], 'Hm.'],
    'the same text in summary and content': [[summary('Hm.'), done(reasoning(['Hm.'], ['Hm.']))], 'Hm.'],
    'content next to the summary': [[summary('Hm.'), done(reasoning(['Hm.'], ['Raw.']))], 'Hm.Raw.'],
  }
  it.each(Object.entries(thinking))('reads repeated reasoning once: %s', async (_name, [events, expected]) => {
    const { content } = await answered(...events, completed())
    expect(content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('')).toBe(expected)
  })
})

describe('content that appears only in the finished response', () => {
  const streamedMessage = [added({ type: 'message', id: 'msg_1' }), text('Hello'), done(message('Hello'))]
  const late = call({ arguments: '{"q":1}' })

  it('reads content missing from a streamed message', async () => {
    const answer = await answered(...streamedMessage, completed([message('Hello'), late]))
    expect(answer.content).toMatchObject([
      { type: 'text', text: 'Hello' },
      { type: 'toolCall', id: 'call_1', name: 'find', arguments: { q: 1 } },
    ])
    expect(answer.stopReason).toBe('toolUse')
  })

  it('keeps unstreamed content in front of the streamed content', async () => {
    const first = { ...message('First.'), id: 'msg_0' }
    const answer = await answered(...streamedMessage, completed([first, message('Hello'), late]))
    expect(answer.content).toMatchObject([{ text: 'Hello' }, { text: 'First.' }, { type: 'toolCall', arguments: { q: 1 } }])
  })

  it('ignores streamed items whose ids changed', async () => {
    const answer = await answered(...streamedMessage, completed([{ ...message('Hello'), id: 'other' }, late]))
    expect(answer.content).toHaveLength(2)
  })

  it('reads a second call of the same tool', async () => {
    const first = call({ arguments: '{"q":1}' })
    const second = call({ id: 'fc_2', call_id: 'call_2', arguments: '{"q":2}' })
    const answer = await answered(added(call()), args('{"q":1}'), done(first), completed([first, second]))
    expect(calls(answer).map((each) => each.args)).toEqual([{ q: 1 }, { q: 2 }])
  })

  it('ignores content that was streamed without an index', async () => {
    const bare = { output_index: undefined, item_id: undefined }
    const answer = await answered(text('Hello', bare), completed([message('Hello')]))
    expect(answer.content).toHaveLength(1)
  })
})

describe('arguments', () => {
  const kept: Record<string, Event[]> = {
    'sent only in the item start': [added(call({ arguments: '{"q":1}' })), done(call({ arguments: '' }))],
    'sent as an object in the item start': [added(call({ arguments: { q: 1 } })), done(call())],
    'sent as an object at the item end': [added(call()), done(call({ arguments: { q: 1 } }))],
    'sent as an object in a delta': [added(call()), args({ q: 1 }), done(call())],
    'sent after a placeholder': [added(call()), args('{}'), done(call({ arguments: '{"q":1}' }))],
    'with a lost delta': [added(call()), args('"q":1}'), done(call({ arguments: '{"q":1}' }))],
    'of a call started twice': [added(call()), added(call()), args('{"q":1}'), done(call({ arguments: '{"q":1}' }))],
    'of a call started again with another index': [added(call()), added(call(), 1), args('{"q":1}'), done(call())],
    'of a call that only the response end completes': [added(call()), args('{"q":1}')],
    'of a call that ends twice with two ids': [
      added(call()),
      done(call({ arguments: '{"q":1}' })),
      done(call({ id: 'fc_2', arguments: '{"q":1}' }), 1),
    ],
    'of a call that ends twice, once without arguments': [
      added(call()),
      args('{"q":1}'),
      done(call({ arguments: '{"q":1}' })),
      done(call({ id: 'fc_2' }), 1),
    ],
    'of a call completed only in the finished response': [added(call()), completed([call({ arguments: '{"q":1}' })])],
  }
  it.each(Object.entries(kept))('reads arguments %s', async (_name, events) => {
    expect(calls(await answered(...events, completed()))).toEqual([{ args: { q: 1 }, invalid: undefined }])
  })

  const refused: Record<string, Event[]> = {
    'no end and no arguments': [added(call())],
    'a placeholder and no end': [added(call({ arguments: '{}' }))],
    'truncated deltas and no end': [added(call()), args('{"q":')],
    'non-object arguments': [added(call()), done(call({ arguments: 5 }))],
  }
  it.each(Object.entries(refused))('rejects a call with %s', async (_name, events) => {
    const [only, ...others] = calls(await answered(...events, completed()))
    expect(others).toEqual([])
    expect(only?.invalid).toBeTypeOf('string')
  })
})

describe('two calls with the same id', () => {
  it("keeps each call's arguments and assigns distinct ids", async () => {
    const [first, second] = [call({ arguments: '{"q":1}' }), call({ id: 'fc_2', arguments: '{"q":2}' })]
    for (const events of [
      [done(first), done(second, 1), completed()],
      [done(first), done(second, 1), completed([first, second])],
      [added(call()), args('{"q":1}'), done(first), added(call({ id: 'fc_2' }), 1), done(second, 1), completed()],
    ]) {
      const answer = await answered(...events)
      expect(calls(answer).map(({ args: found }) => found)).toEqual([{ q: 1 }, { q: 2 }])
      expect(new Set(answer.content.map((block) => block.type === 'toolCall' && block.id)).size).toBe(2)
    }
  })
})

describe('a repeated item index', () => {
  it('starts a second call for a repeated item index', async () => {
    const other = { id: 'fc_2', call_id: 'call_2' }
    const answer = await answered(
      added(call()),
      args('{"q":1}'),
      done(call({ arguments: '{"q":1}' })),
      added(call(other)),
      args('{"q":2}', { item_id: 'fc_2' }),
      done(call({ ...other, arguments: '{"q":2}' })),
      completed(),
    )
    expect(calls(answer).map((each) => each.args)).toEqual([{ q: 1 }, { q: 2 }])
  })

  it('keeps concurrent calls with the same index separate', async () => {
    const other = { id: 'fc_2', call_id: 'call_2' }
    const answer = await answered(
      added(call()),
      added(call(other)),
      args('{"q":1}'),
      args('{"q":2}', { item_id: 'fc_2' }),
      done(call({ arguments: '{"q":1}' })),
      done(call({ ...other, arguments: '{"q":2}' })),
      completed(),
    )
    expect(calls(answer).map((each) => each.args)).toEqual([{ q: 1 }, { q: 2 }])
  })

  it('keeps text after reasoning with the same index', async () => {
    const thought = { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Hm.' }
    const answer = await answered(thought, text('Hello', { item_id: undefined }), completed())
    expect(answer.content).toMatchObject([{ thinking: 'Hm.' }, { text: 'Hello' }])
  })
})
