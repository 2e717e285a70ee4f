import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SessionError } from '../../src/contract/errors.ts'
import type { AgentMessage } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import { fromSpecJson, messageCodec, toSpecJson } from '../../src/rust.ts'
import { parseMessages, serializeMessages } from '../../src/session.ts'
import { canonical, message } from './arbitrary.ts'

const conversation = readFileSync(new URL('../fixtures/spec-json/conversation.json', import.meta.url), 'utf8')
const usage = { input: 0, output: 0, reasoning: 0, cache_read: 0, cache_write: 0, total_tokens: 0 }
const user = { role: 'user', content: [], timestamp: 1 }
const assistant = { role: 'assistant', content: [], stopReason: 'stop', model: 'm', provider: 'p', usage, timestamp: 2 }

/** JSON as Rust would write it again: without the ids that were added here. */
function withoutIds(text: string): unknown {
  const messages: object[] = JSON.parse(text)
  return messages.map((entry) => ({ ...entry, id: undefined }))
}

function failure(value: unknown): string {
  try {
    fromSpecJson(JSON.stringify(value))
  } catch (error) {
    expect(error).toBeInstanceOf(SessionError)
    expect(error).toMatchObject({ code: 'invalidMessages' })
    return error instanceof Error ? error.message : ''
  }
  return 'accepted'
}

describe('toSpecJson and fromSpecJson', () => {
  it('preserves a crate conversation except for new ids (full_conversation_roundtrip)', () => {
    const restored = fromSpecJson(conversation)
    expect(canonical(withoutIds(toSpecJson(restored)))).toBe(canonical(JSON.parse(conversation)))
    expect(new Set(restored.map((entry) => entry.id)).size).toBe(restored.length)
  })

  it('restores a crate conversation as a valid native history', () => {
    const restored = fromSpecJson(conversation)
    expect(parseMessages(serializeMessages(restored))).toEqual(restored)
  })

  it('preserves any history through the crate format (agent_message_roundtrip)', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), (history) => {
        expect(canonical(fromSpecJson(toSpecJson(history)))).toBe(canonical(history))
      }),
      { numRuns: 500 },
    )
  })

  it('encodes a decoded message to the same JSON', () => {
    fc.assert(
      fc.property(message, (entry) => {
        const spec = messageCodec.encode(entry)
        expect(canonical(messageCodec.encode(messageCodec.decode(spec)))).toBe(canonical(spec))
      }),
    )
  })

  it('reads the example from the specification', () => {
    const [first, second] = fromSpecJson(
      JSON.stringify([
        { role: 'user', content: [{ type: 'text', text: 'Hello' }], timestamp: 1700000000000 },
        { ...assistant, usage: { input: 100, output: 50, cache_read: 0, cache_write: 0, total_tokens: 150 } },
      ]),
    )
    expect(first).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'Hello' }] })
    expect(second).toMatchObject({ usage: { ...emptyUsage(), input: 100, output: 50, totalTokens: 150 } })
  })

  it('reports the path and the expected value in an invalid conversation', () => {
    expect(failure([user, { ...assistant, usage: { ...usage, input: '1' } }])).toBe('messages[1].usage.input: expected number, got string')
    expect(failure([{ ...user, content: [{ type: 'foo' }] }])).toBe(
      'messages[0].content[0].type: expected text|image|thinking|toolCall, got "foo"',
    )
    expect(failure([{ ...user, role: 'system' }])).toBe('messages[0].role: expected user|assistant|toolResult|extension, got "system"')
    expect(failure([{ ...user, role: 'constructor' }])).toContain('got "constructor"')
    expect(failure([{ ...assistant, stopReason: 'tired' }])).toContain('messages[0].stopReason: expected stop|length|')
    expect(failure([{ ...assistant, model: undefined }])).toBe('messages[0].model: expected string, got nothing')
    expect(failure([{ ...user, timestamp: 1.5 }])).toBe('messages[0].timestamp: expected integer, got number')
    expect(failure([{ ...user, timestamp: -1 }])).toBe('messages[0].timestamp: expected integer from 0, got number')
    expect(failure([{ role: 'extension', kind: 'k' }])).toBe('messages[0].data: expected JSON value, got nothing')
    expect(failure({})).toBe('messages: expected array, got object')
  })

  it('omits unreadable text from the error', () => {
    expect(() => fromSpecJson('my secret is 42')).toThrow('messages: not valid JSON (15 characters)')
  })

  it('drops a __proto__ key of a message, and keeps one in arguments as inert data', () => {
    const [poisoned] = fromSpecJson('[{"role":"user","content":[],"timestamp":1,"__proto__":{"polluted":1}}]')
    expect(Reflect.get(Object(poisoned), 'polluted')).toBeUndefined()
    const call = '{"type":"toolCall","id":"c","name":"n","arguments":{"__proto__":{"polluted":1}}}'
    expect(toSpecJson(fromSpecJson(`[{"role":"user","content":[${call}],"timestamp":1}]`))).toContain('"__proto__":{"polluted":1}')
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('writes error_message in snake_case, because the crate drops the camelCase form', () => {
    const failed: AgentMessage = {
      ...{ role: 'assistant', id: 'a', content: [], stopReason: 'error', model: 'm', provider: 'p', timestamp: 1 },
      usage: emptyUsage(),
      errorMessage: 'boom',
    }
    const written = toSpecJson([failed])
    expect(JSON.parse(written)).toEqual([{ ...assistant, id: 'a', stopReason: 'error', timestamp: 1, error_message: 'boom' }])
    const [ignored] = fromSpecJson(JSON.stringify([{ ...assistant, errorMessage: 'x' }]))
    expect(ignored).not.toHaveProperty('errorMessage')
  })

  it('never writes an unknown key that the crate would interpret', () => {
    const odd = { ...user, id: 'a', role: 'assistant', ...{ stopReason: 'stop', model: 'm', provider: 'p', error_message: 5 } }
    const history = parseMessages(JSON.stringify([{ ...odd, usage: emptyUsage() }]))
    expect(JSON.parse(toSpecJson(history))[0]).not.toHaveProperty('error_message')
  })
})
