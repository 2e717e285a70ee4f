import { describe, expect, it } from 'vitest'
import { provenanceOf } from '../../src/context/requests/provenance.ts'
import { defaultContextTranslation } from '../../src/context/translation.ts'
import { extensionMessage, isLlmMessage, type LlmMessage, type Message, userMessage } from '../../src/contract/message/message.ts'
import { openai } from '../../src/providers/openai.ts'
import { answer, result, user } from './history.ts'

const turn = (turnIndex: number, loopId = 'l') => ({ turnId: { loopId, turnIndex } })
const loopTurn = (turnIndex: number, role: string, messageIndex: number) => ({ kind: 'loopTurn', turnIndex, role, messageIndex })

const history: LlmMessage[] = [
  user('ask', turn(0)),
  answer('a1', ['c1'], turn(0)),
  result('r1', 'c1', turn(0)),
  user('steer', { ...turn(1), provenanceHint: { kind: 'steering' } }),
  answer('a2', [], turn(1)),
  user('again', turn(0, 'l2')),
]

const expected = [
  loopTurn(0, 'userMessage', 0),
  loopTurn(0, 'toolCallRequest', 1),
  loopTurn(0, 'toolCallResult', 2),
  { kind: 'steering' },
  loopTurn(1, 'assistantResponse', 1),
  loopTurn(0, 'userMessage', 0),
]

describe('provenanceOf', () => {
  it('returns turn, role and position for messages of each loop', () => {
    expect(provenanceOf(history, history)).toEqual(expected)
  })

  it('prefers a provenance hint, with or without a turn', () => {
    const identity = { kind: 'identityBlock', name: 'Agent', order: 3 } as const
    const memory = { kind: 'memoryTier', tier: 'short', recordId: 'r' } as const
    const messages = [user('who', { provenanceHint: identity }), user('what', { ...turn(0), provenanceHint: memory })]
    const provenance = provenanceOf(messages, messages)
    expect(provenance).toEqual([identity, memory])
    expect(provenance[0]).toBe(identity)
  })

  it('returns unknown for messages without a turn', () => {
    const messages = [user('summary'), answer('old'), ...history.slice(0, 1)]
    expect(provenanceOf(messages, messages)).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }, expected[0]])
  })

  it('matches copied, reordered and omitted messages by id', () => {
    const copies = history.map((message) => ({ ...message, content: [...message.content] }))
    expect(provenanceOf(history, copies)).toEqual(expected)
    const gpt = openai('gpt-5.1').config
    const plain = answer('a2', [], turn(1))
    const thinking: LlmMessage = { ...plain, content: [{ type: 'thinking', thinking: 'hm' }] }
    const translated = defaultContextTranslation([thinking], gpt)
    expect(translated[0]).not.toBe(thinking)
    expect(provenanceOf([thinking], translated)).toEqual([loopTurn(1, 'assistantResponse', 0)])
    expect(provenanceOf(history, history.slice(1).reverse())).toHaveLength(5)
    expect(
      provenanceOf(
        history,
        [history[2], history[4]].filter((message) => message !== undefined),
      ),
    ).toEqual([loopTurn(0, 'toolCallResult', 0), loopTurn(1, 'assistantResponse', 0)])
  })

  it('returns unknown for converted messages without hints', () => {
    const bare: Message[] = history.map(({ content }) => ({ role: 'user', content, timestamp: 1 }))
    expect(provenanceOf(history, bare)).toEqual(bare.map(() => ({ kind: 'unknown' })))
    const note = extensionMessage('note', 1)
    const made = [{ ...userMessage('note'), id: note.id }, user('foreign', turn(0)), user('x', { provenanceHint: { kind: 'followUp' } })]
    expect(provenanceOf([note, ...history], made)).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }, { kind: 'followUp' }])
  })

  it('returns one entry per sent message', () => {
    const entries = [extensionMessage('note', 1), ...history]
    expect(provenanceOf(entries, entries.filter(isLlmMessage))).toEqual(expected)
    expect(provenanceOf(entries, [])).toEqual([])
  })
})
