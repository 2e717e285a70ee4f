import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/contract/message/message.ts'
import { legalId, nineChars } from '../../../src/providers/kit/history/hash.ts'
import { type NormaliseTarget, normalise } from '../../../src/providers/kit/history/normalise.ts'
import { answer, call, result, user } from '../anthropic/call.ts'

const target: NormaliseTarget = {
  api: 'anthropicMessages',
  provider: 'anthropic',
  model: 'claude-test',
  media: { media: ['image/*'], mediaByUrl: [], mediaById: [] },
  toolCallId: legalId('a-zA-Z0-9_-', 64),
  uniqueIds: true,
  keepsThinking: (block) => block.signature !== undefined,
}

const outline = (messages: readonly Message[]) =>
  messages.map((each) => (each.role === 'toolResult' ? `${each.toolCallId}${each.isError ? '!' : ''}` : each.role))

describe('normalise', () => {
  it('returns unchanged messages by identity', () => {
    const messages = [user('a'), answer([{ type: 'text', text: 'b' }, call('c1')]), result('c1'), user('d')]
    normalise(messages, target).forEach((each, index) => {
      expect(each).toBe(messages[index])
    })
  })

  it('returns the same objects for changed messages each time', () => {
    const other = { model: 'claude-other' }
    const calls = [answer([call('x:1'), call('x;1')], other), result('x:1'), answer([call('x:1')], other)]
    const messages = [user('a'), ...calls, user(' ')]
    const first = normalise(messages, target)
    normalise([...messages, user('more')], target)
      .slice(0, first.length)
      .forEach((each, index) => {
        expect(each).toBe(first[index])
      })
  })

  it('places every result right after its call, exactly once', () => {
    const messages = [
      user('a'),
      answer([call('c1'), call('c2'), call('c3')]),
      user('wait'),
      result('c3'),
      result('c1'),
      result('c1'),
      result('zz'),
    ]
    const list = normalise(messages, target)
    expect(outline(list)).toEqual(['user', 'assistant', 'c1', 'c2!', 'c3', 'user'])
    expect(list[2]).toBe(messages[4])
    expect(list[3]?.content).toEqual([{ type: 'text', text: 'No result provided' }])
  })

  it('omits failed responses and the results of their calls', () => {
    const failed = answer([call('c1')], { stopReason: 'error' })
    const aborted = answer([call('c2')], { stopReason: 'aborted' })
    const list = normalise([user('a'), failed, result('c1'), aborted, result('c2'), user('b')], target)
    expect(outline(list)).toEqual(['user', 'assistant', 'user'])
    expect(list[1]?.content).toEqual([{ type: 'text', text: '[No response: the request failed]' }])
  })

  describe('an aborted response', () => {
    const state = { api: 'test', model: 'm', payload: {} }
    const stopped = answer(
      [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'half', providerState: state }, call('c1'), { type: 'text', text: ' ' }],
      { stopReason: 'aborted', errorMessage: 'Cancelled' },
    )

    it('keeps only the text of an aborted response before a user message', () => {
      const list = normalise([user('a'), stopped, user('go on')], target)
      expect(outline(list)).toEqual(['user', 'assistant', 'user'])
      expect(list[1]).toMatchObject({ content: [{ type: 'text', text: 'half' }], stopReason: 'stop' })
      expect(list[1]?.content).toHaveLength(1)
      expect(list[1]).not.toHaveProperty('errorMessage')
      expect(list[1]?.content[0]).not.toHaveProperty('providerState')
      expect(normalise([user('a'), stopped, user('go on')], target)[1]).toBe(list[1])
    })

    it('omits an aborted response unless a user message follows', () => {
      const again = answer([{ type: 'text', text: 'whole' }])
      expect(normalise([user('a'), stopped, again, user('b')], target)).toMatchObject([{}, { content: [{ text: 'whole' }] }, {}])
      expect(outline(normalise([user('a'), stopped], target))).toEqual(['user'])
      expect(outline(normalise([user('a'), stopped, result('c1'), answer([], { stopReason: 'error' }), user('b')], target))).toEqual([
        'user',
        'assistant',
        'user',
      ])
    })

    it('keeps only the last of two aborted responses', () => {
      const later = answer([{ type: 'text', text: 'half again' }], { stopReason: 'aborted' })
      const list = normalise([user('a'), stopped, later, user('b')], target)
      expect(list).toMatchObject([{}, { content: [{ text: 'half again' }] }, {}])
      expect(list).toHaveLength(3)
    })
  })

  it('separates calls of different turns with the same id', () => {
    const messages = [user('a'), answer([call('call_0')]), result('call_0'), answer([call('call_0')]), result('call_0', undefined, true)]
    const list = normalise(messages, target)
    const [first, second] = list.filter((each) => each.role === 'toolResult')
    expect(first).toBe(messages[2])
    expect(second).toMatchObject({ isError: true })
    expect(second?.role === 'toolResult' && second.toolCallId).not.toBe('call_0')
  })

  it('starts with a user message and never ends with the model', () => {
    const said = answer([{ type: 'text', text: 'b' }])
    expect(outline(normalise([said], target))).toEqual(['user', 'assistant', 'user'])
  })

  it('keeps calls with invalid JSON arguments, without the arguments', () => {
    const broken = { type: 'toolCall' as const, id: 'c1', name: 'read', arguments: {}, invalidArguments: '{"a' }
    const list = normalise([user('a'), answer([broken]), result('c1')], target)
    expect(list[1]?.content).toMatchObject([{ id: 'c1', arguments: {} }])
  })

  it('drops foreign reasoning and keeps its own', () => {
    const content = [
      { type: 'thinking' as const, thinking: 'hm', signature: 's' },
      { type: 'text' as const, text: 'b' },
    ]
    const own = answer(content)
    expect(normalise([user('a'), own, user('c')], target)[1]).toBe(own)
    for (const other of [{ model: 'claude-other' }, { provider: 'openai' }]) {
      expect(normalise([user('a'), answer(content, other), user('c')], target)[1]?.content).toEqual([content[1]])
    }
  })
})

describe('legalId', () => {
  const legal = legalId('a-zA-Z0-9_-', 40)

  it('keeps valid ids, and maps invalid ones to distinct ids', () => {
    expect(legal('call_1')).toBe('call_1')
    const mapped = ['call:1', 'call;1', '', 'x'.repeat(60), `${'x'.repeat(60)}y`].map(legal)
    expect(new Set(mapped).size).toBe(mapped.length)
    for (const id of mapped) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
  })
})

describe('ids', () => {
  const mappings = { 'of at most 40 characters': legalId('a-zA-Z0-9_-', 40), 'of exactly nine': nineChars }

  it.each(Object.entries(mappings))('keeps %s unique, with each result after its call', (_name, toolCallId) => {
    const odd = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.stringMatching(/^[ab:]{0,3}$/), fc.constant('x'.repeat(50)))
    // What an id becomes may be the id of another call.
    const ids = fc.uniqueArray(fc.oneof(odd, odd.map(toolCallId)), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(ids, (originals) => {
        const results = originals.map((id) => result(id, [{ type: 'text', text: `of ${originals.indexOf(id)}` }]))
        const asks = answer(
          originals.map((id) => call(id)),
          { provider: 'other' },
        )
        const history = [user('a'), asks, ...results.toReversed()]
        const [, asked, ...answered] = normalise(history, { ...target, toolCallId })
        const calls = asked?.content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : [])) ?? []
        expect(new Set(calls).size).toBe(originals.length)
        expect(calls.map(toolCallId)).toEqual(calls)
        const said = answered.map((each) => (each.role === 'toolResult' ? [each.toolCallId, each.content] : each.role))
        expect(said).toEqual(calls.map((id, index) => [id, [{ type: 'text', text: `of ${index}` }]]))
      }),
    )
  })
})
