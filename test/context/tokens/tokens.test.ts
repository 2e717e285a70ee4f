import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateTokens, heuristicTokenCounter, messageTokens, totalTokens } from '../../../src/context.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import { extensionMessage } from '../../../src/contract/message/message.ts'
import { answer, result, user } from '../history.ts'

describe('estimateTokens', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['Hello world', 3],
    ['漢字仮名', 3],
    ['é'.repeat(4), 2],
    ['🙂', 1],
    ['🙂🙂', 2],
  ])('returns a quarter of the bytes, rounded up: %j', (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens)
  })

  it('counts bytes as the encoder does, lone surrogates included', () => {
    const anyText = fc
      .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xd83d, 0xde42)))
      .map((codes) => String.fromCharCode(...codes))
    const property = fc.property(anyText, (text) => {
      expect(estimateTokens(text)).toBe(Math.ceil(new TextEncoder().encode(text).length / 4))
    })
    fc.assert(property, { numRuns: 1000 })
  })
})

describe('messageTokens', () => {
  const image = (characters: number): Content => ({ type: 'image', data: 'A'.repeat(characters), mimeType: 'image/png' })
  const imageTokens = (characters: number): number => messageTokens({ ...user('i'), content: [image(characters)] }) - 4

  it('adds a fixed overhead per message', () => {
    expect(messageTokens(user('abcd'))).toBe(1 + 4)
    expect(messageTokens(answer('abcd'))).toBe(1 + 4)
    expect(messageTokens(result('r', 'c'))).toBe(1 + 1 + 8)
    expect(messageTokens(extensionMessage('note', { a: 1 }))).toBe(2 + 4)
  })

  it('counts thinking, calls and their arguments', () => {
    const thinking = { ...answer('a'), content: [{ type: 'thinking' as const, thinking: 'abcde' }] }
    expect(messageTokens(thinking)).toBe(2 + 4)
    const call = { ...answer('a'), content: [{ type: 'toolCall' as const, id: 'c', name: 'look', arguments: { path: 'x' } }] }
    expect(messageTokens(call)).toBe(1 + 3 + 8 + 4)
  })

  it('counts an image by its bytes, at least 85 and at most 16,000', () => {
    expect(imageTokens(4)).toBe(85)
    expect(imageTokens(400_000)).toBe(400)
    expect(imageTokens(20_000_000)).toBe(16_000)
  })

  it('calls a custom counter once per message', () => {
    let asked = 0
    const counter = { text: () => 0, message: () => ++asked }
    const message = user('a')
    expect([messageTokens(message, counter), messageTokens(message, counter)]).toEqual([1, 1])
    expect(messageTokens(message)).toBe(heuristicTokenCounter.message(message))
  })
})

describe('totalTokens', () => {
  it('sums the tokens of messages from a position', () => {
    const messages = [user('abcd'), answer('abcd'), user('abcdefgh')]
    expect(totalTokens(messages)).toBe(5 + 5 + 6)
    expect(totalTokens(messages, heuristicTokenCounter, 2)).toBe(6)
    expect(totalTokens([])).toBe(0)
  })
})
