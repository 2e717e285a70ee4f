import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { turnsOf } from '../../src/context.ts'
import type { AgentMessage } from '../../src/contract/message/message.ts'
import { answer, idsOf, result, user } from './history.ts'
import { historyOf, pairsOf, seeds } from './random-history.ts'

const turn = (loopId: string, turnIndex: number) => ({ turnId: { loopId, turnIndex } })
const grouped = (...messages: readonly AgentMessage[]): string[][] => turnsOf(messages).map(idsOf)

describe('turnsOf', () => {
  it('groups adjacent messages by turnId', () => {
    const [first, second, other] = [turn('l', 0), turn('l', 1), turn('m', 1)]
    expect(
      grouped(user('a', first), answer('b', ['c'], first), result('r', 'c', first), answer('d', [], second), user('e', other)),
    ).toEqual([['a', 'b', 'r'], ['d'], ['e']])
    expect(grouped(user('a', first), user('b', second), user('c', first))).toEqual([['a'], ['b'], ['c']])
  })

  it('treats each message without a turnId as a separate turn', () => {
    expect(grouped(user('a'), answer('b'), user('c'), { role: 'extension', id: 'e', kind: 'k', data: 1 })).toEqual([
      ['a'],
      ['b'],
      ['c'],
      ['e'],
    ])
    expect(turnsOf([])).toEqual([])
  })

  it('puts a tool result into the turn of its call', () => {
    expect(grouped(answer('a', ['c', 'd']), result('r', 'c'), result('s', 'd'), user('u'))).toEqual([['a', 'r', 's'], ['u']])
  })

  it('puts a result from a later loop into the turn of its call', () => {
    const [asked, resumed] = [turn('l', 3), turn('m', 0)]
    const messages = [
      answer('a', ['c'], asked),
      { role: 'extension' as const, id: 'p', kind: 'paused', data: 1 },
      result('r', 'c', resumed),
    ]
    expect(grouped(...messages, answer('b', [], turn('m', 1)))).toEqual([['a', 'p', 'r'], ['b']])
  })

  it('keeps a result in its turn if other messages intervene', () => {
    expect(
      grouped(user('u'), answer('a', ['c', 'd']), result('r', 'c'), user('s'), answer('b', ['e']), result('t', 'd'), result('v', 'e')),
    ).toEqual([['u'], ['a', 'r', 's', 'b', 't', 'v']])
  })

  it('assigns a repeated call id to the latest call, and a second result to no call', () => {
    expect(grouped(answer('a', ['c']), answer('b', ['c']), result('r', 'c'), result('s', 'c'))).toEqual([['a'], ['b', 'r'], ['s']])
  })

  it('keeps order and call-result pairs without loss', () => {
    const property = fc.property(seeds(40), (numbers) => {
      const messages = historyOf(numbers)
      const turns = turnsOf(messages)
      expect(turns.flat()).toEqual(messages)
      const turnAt = new Map(turns.flatMap((each, at) => each.map((message) => [message.id, at] as const)))
      for (const [call, answered] of pairsOf(messages)) expect(turnAt.get(answered)).toBe(turnAt.get(call))
    })
    fc.assert(property, { numRuns: 2000 })
  })
})
