import { expect, it } from 'vitest'
import { playBytes } from './call.ts'

const sse = (...chunks: object[]): Uint8Array =>
  new TextEncoder().encode([...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n'].join(''))
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }
const whole = [
  { type: 'text', text: 'I look.' },
  { type: 'toolCall', id: 'call_1', name: 'look', arguments: { a: 1 } },
]

it('reads two choices of index 0 as one response', async () => {
  const choices = [
    { index: 0, delta: { content: 'I look.' }, finish_reason: 'stop' },
    { index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' },
  ]
  const { message } = await playBytes(sse({ id: 'r', choices }))
  expect(message).toMatchObject({ stopReason: 'toolUse', content: whole })
})

it('reads two whole messages of index 0 as one response', async () => {
  const choices = [
    { index: 0, message: { content: 'I look.' }, finish_reason: 'tool_calls' },
    { index: 0, message: { tool_calls: [call] }, finish_reason: 'tool_calls' },
  ]
  const { message } = await playBytes(sse({ id: 'r', object: 'chat.completion', choices }))
  expect(message).toMatchObject({ stopReason: 'toolUse', content: whole })
})

it('keeps the stop reason length despite another choice of index 0', async () => {
  const choices = [
    { index: 0, delta: { content: 'I lo' }, finish_reason: 'length' },
    { index: 0, delta: {}, finish_reason: 'stop' },
  ]
  const { message } = await playBytes(sse({ id: 'r', choices }))
  expect(message?.stopReason).toBe('length')
})

it('omits a choice without an index next to one of index 0', async () => {
  const choices = [
    { index: 0, delta: { content: 'Mine.' }, finish_reason: 'stop' },
    { delta: { content: 'Other.' }, finish_reason: 'stop' },
  ]
  const { message } = await playBytes(sse({ id: 'r', choices }))
  expect(message?.content).toEqual([{ type: 'text', text: 'Mine.' }])
})
