import { describe, expect, it } from 'vitest'
import { extensionMessage, isLlmMessage } from '../../src/context.ts'
import { type Content, staticCredential, textOf, toolCallsOf, userMessage } from '../../src/index.ts'

const image = { type: 'image' as const, data: 'AA==', mimeType: 'image/png' }

describe('userMessage', () => {
  it('puts text before images, and accepts an image without text', () => {
    expect(userMessage('look', [image]).content).toEqual([{ type: 'text', text: 'look' }, image])
    expect(userMessage('', [image]).content).toEqual([image])
    expect(Number.isInteger(userMessage('now').timestamp)).toBe(true)
  })
})

describe('extensionMessage', () => {
  it('creates a unique id, and is no message for the model', () => {
    const note = extensionMessage('note', { a: 1 })
    expect(note).toMatchObject({ role: 'extension', kind: 'note', data: { a: 1 } })
    expect(note.id).not.toBe(extensionMessage('note', { a: 1 }).id)
    expect([isLlmMessage(note), isLlmMessage({ ...userMessage('x'), id: 'u' })]).toEqual([false, true])
  })
})

describe('textOf and toolCallsOf', () => {
  it('returns blocks of its kind in order', () => {
    const call = (id: string) => ({ type: 'toolCall' as const, id, name: 't', arguments: {} })
    const content: Content[] = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'a' },
      call('1'),
      { type: 'text', text: 'b' },
      call('2'),
    ]
    expect(textOf(content)).toBe('ab')
    expect(toolCallsOf(content).map((each) => each.id)).toEqual(['1', '2'])
    expect([textOf([]), toolCallsOf([])]).toEqual(['', []])
  })
})

describe('staticCredential', () => {
  it('returns a fixed key and hides it when printed (static_credential_provider_returns_fixed_key)', async () => {
    const credential = staticCredential('sk-canary')
    const { signal } = new AbortController()
    expect(await credential.current(signal)).toBe('sk-canary')
    await credential.invalidate()
    expect(await credential.current(signal)).toBe('sk-canary')
    expect(JSON.stringify(credential)).not.toContain('sk-canary')
  })
})
