import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SessionError } from '../../src/contract/errors.ts'
import { type AgentMessage, extensionMessage, userMessage, withId } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import { parseMessages, serializeMessages } from '../../src/session.ts'
import { message } from '../rust/arbitrary.ts'

const user = { role: 'user', content: [{ type: 'text', text: 'Hello' }], timestamp: 1 }
const assistant = { role: 'assistant', content: [], stopReason: 'stop', model: 'm', provider: 'p', usage: emptyUsage(), timestamp: 2 }

function failure(value: unknown): string {
  try {
    parseMessages(typeof value === 'string' ? value : JSON.stringify(value))
  } catch (error) {
    expect(error).toBeInstanceOf(SessionError)
    expect(error).toMatchObject({ code: 'invalidMessages' })
    return error instanceof Error ? error.message : ''
  }
  return 'accepted'
}

describe('parseMessages', () => {
  it('parses any messages written by serializeMessages', () => {
    fc.assert(
      fc.property(fc.array(message), (history) => {
        const text = serializeMessages(history)
        expect(serializeMessages(parseMessages(text))).toBe(text)
      }),
    )
  })

  it('assigns an id to a message without one and keeps existing ids', () => {
    const [first, second] = parseMessages(JSON.stringify([user, { ...user, id: 'kept' }]))
    expect(first?.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(second?.id).toBe('kept')
  })

  it('keeps unknown keys of messages', () => {
    const future = { ...assistant, id: 'a', mood: { level: 3 }, content: [{ type: 'text', text: '', novelties: [1] }] }
    expect(parseMessages(JSON.stringify([future]))).toEqual([future])
  })

  it('reports the path and the error', () => {
    expect(failure([user, user, user, { ...user, content: [{ type: 'foo' }] }])).toBe(
      'messages[3].content[0].type: expected text|image|file|thinking|toolCall|serviceTool|opaque, got "foo"',
    )
    expect(failure({})).toBe('messages: expected array, got object')
    expect(failure([null])).toBe('messages[0]: expected object, got null')
    expect(failure([{ ...user, role: 'system' }])).toBe('messages[0].role: expected user|assistant|toolResult|extension, got "system"')
    expect(failure([{ content: [] }])).toBe('messages[0].role: expected user|assistant|toolResult|extension, got nothing')
    expect(failure([{ ...user, timestamp: '1' }])).toBe('messages[0].timestamp: expected number, got string')
    expect(failure([{ ...user, turnId: 'x' }])).toBe('messages[0].turnId: expected object, got string')
    expect(failure([{ ...assistant, usage: { ...emptyUsage(), cacheRead: null } }])).toBe(
      'messages[0].usage.cacheRead: expected number, got null',
    )
    expect(failure([{ ...user, content: [{ type: 'toolCall', id: 'c', name: 'n', arguments: [] }] }])).toBe(
      'messages[0].content[0].arguments: expected object, got array',
    )
    expect(failure([{ role: 'extension', kind: 'k' }])).toBe('messages[0].data: expected JSON value, got nothing')
  })

  it('detects any missing or mistyped field', () => {
    const call: AgentMessage = {
      role: 'toolResult',
      id: 'r',
      toolCallId: 'c',
      toolName: 'n',
      content: [{ type: 'image', data: '', mimeType: 'image/png' }],
      isError: false,
      timestamp: 3,
    }
    for (const whole of [user, assistant, call]) {
      for (const key of Object.keys(whole)) {
        if (key === 'id') continue
        expect(failure([{ ...whole, [key]: undefined }])).toContain(`messages[0].${key}: expected`)
        expect(failure([{ ...whole, [key]: { odd: true } }])).toContain(`messages[0].${key}`)
      }
    }
  })

  it('omits message text from the error', () => {
    expect(failure('my secret is 42')).toBe('messages: not valid JSON (15 characters)')
    expect(failure([{ ...user, content: 'my secret is 42' }])).not.toContain('42')
    expect(failure([{ ...user, role: 'x'.repeat(1000) }]).length).toBeLessThan(200)
  })

  it('rejects __proto__ keys and ignores inherited members', () => {
    const poisoned = '[{"__proto__":{"role":"user","content":[],"timestamp":1}}]'
    expect(failure(poisoned)).toBe('messages[0].__proto__: expected no such key, got object')
    expect(failure('[{"role":"user","timestamp":1,"content":[{"type":"text","text":"","__proto__":{"a":1}}]}]')).toContain('__proto__')
    expect(failure([{ ...user, role: 'constructor' }])).toContain('got "constructor"')
    expect(failure([{ ...user, content: [{ type: 'toString' }] }])).toContain('got "toString"')
  })

  it('keeps a __proto__ key inside arguments as plain data', () => {
    const text = '[{"role":"extension","id":"e","kind":"k","data":{"__proto__":{"polluted":1}}}]'
    expect(serializeMessages(parseMessages(text))).toBe(text)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('accepts messages without ids and timestamps', () => {
    const history = [withId(userMessage('Hi')), extensionMessage('note', null)]
    expect(parseMessages(serializeMessages(history))).toEqual(history)
  })
})
