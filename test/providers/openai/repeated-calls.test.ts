import { describe, expect, it } from 'vitest'
import { playBytes } from './call.ts'

/** What is read of a response whose calls come in these pieces, each in a chunk of its own. */
async function callsOf(...pieces: object[]) {
  const chunks = [...pieces.map((each) => ({ delta: { tool_calls: [each] } })), { delta: {}, finish_reason: 'tool_calls' }]
  const lines = chunks.map((choice) => `data: ${JSON.stringify({ id: 'r', choices: [{ index: 0, ...choice }] })}\n\n`)
  const { message } = await playBytes(new TextEncoder().encode(`${lines.join('')}data: [DONE]\n\n`))
  return message?.content
}

const whole = (args: string, more: object = {}): object => ({ type: 'function', function: { name: 'pay', arguments: args }, ...more })
const pay = (amount: number, id: string): object => ({ type: 'toolCall', id, name: 'pay', arguments: { amount } })

describe('a call that a provider repeats in full', () => {
  it('reads a repeated call without id and index once', async () => {
    expect(await callsOf(whole('{"amount":5}', { index: 0, id: 'a' }), whole('{"amount":5}'))).toEqual([pay(5, 'a')])
  })

  it('reads a complete call after its fragments once', async () => {
    const fragment = { index: 0, function: { arguments: '5}' } }
    expect(await callsOf(whole('{"amount":', { index: 0, id: 'a' }), fragment, whole('{"amount":5}'))).toEqual([pay(5, 'a')])
  })

  it('reads several repeated calls once each', async () => {
    const [first, second] = ['{"amount":5}', '{"amount":6}'] as const
    const calls = await callsOf(whole(first, { index: 0, id: 'a' }), whole(second, { index: 1, id: 'b' }), whole(first), whole(second))
    expect(calls).toEqual([pay(5, 'a'), pay(6, 'b')])
  })

  it('reads another call if the provider issues no ids', async () => {
    expect(await callsOf(whole('{"amount":5}'), whole('{"amount":5}'))).toHaveLength(2)
  })

  it('reads another call for other arguments, index or id', async () => {
    const first = whole('{"amount":5}', { index: 0, id: 'a' })
    expect(await callsOf(first, whole('{"amount":6}'))).toHaveLength(2)
    expect(await callsOf(first, whole('{"amount":5}', { index: 1 }))).toHaveLength(2)
    expect(await callsOf(first, whole('{"amount":5}', { id: 'b' }))).toHaveLength(2)
  })
})
