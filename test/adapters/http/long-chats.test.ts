import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LastOfList } from '../../../adapters/http/access/last-of-list.ts'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { runs } from '../../support/runs.ts'

/** What is kept of a text that comes in pieces of so many characters. */
function keptOf(text: string, size: number): string {
  const last = new LastOfList('messages')
  for (let at = 0; at < text.length; at += size) last.add(text.slice(at, at + size))
  return last.text
}

describe('the streaming list parser', () => {
  it('keeps only the last list element and the text around the list', () => {
    const body = fc.dictionary(fc.constantFrom('id', 'messages', 'other', 'mess', '"', '\\'), fc.jsonValue())
    fc.assert(
      fc.property(
        body,
        fc.array(fc.jsonValue()),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(undefined, 1),
        (rest, messages, size, indent) => {
          const whole = { ...rest, messages }
          // Texts, not values: V8 13.6 takes an escaped key for one that it has parsed before (`"\""` for `"\\"`).
          const kept = keptOf(JSON.stringify(whole, undefined, indent), size)
          expect(kept).toBe(JSON.stringify({ ...whole, messages: messages.slice(-1) }, undefined, indent))
        },
      ),
      { numRuns: runs(500, 20_000) },
    )
  })

  it('keeps the preceding element if requested', () => {
    const text = (of: number[]) => JSON.stringify({ id: 'x', messages: of.map((at) => ({ at, text: `"${at}",` })), more: [1] })
    const last = new LastOfList('messages', (element) => /"at":\d*0,/.test(element))
    for (const piece of text([1, 10, 2, 20, 3, 4]).match(/.{1,7}/gs) ?? []) last.add(piece)
    expect(last.text).toBe(text([20, 4]))
  })

  it('handles escaped keys and strings split at any character', () => {
    const odd = ['"', '\\', '\\"', '"]', ',"messages":[', '\\\\"', '}', '[', '\n"\\', 'messages"', '\u2028']
    for (const one of odd)
      for (const two of odd) {
        const rest = { [one]: { [two]: [two, { [one]: two }] } }
        const whole = { ...rest, messages: [{ [two]: one }, [one, two], { [one]: [two] }], [`${two} `]: [one] }
        const text = JSON.stringify(whole)
        const expected = JSON.stringify({ ...whole, messages: whole.messages.slice(-1) })
        for (let size = 1; size < 12; size += 1) expect(keptOf(text, size)).toBe(expected)
      }
  })

  it('leaves other JSON unchanged', () => {
    const texts = [
      '',
      '[1,[2,3],{"messages":[1,2]}]',
      '{"messages":{"a":[1,2]}}',
      '{"a":{"messages":[1,2]}}',
      '{"x":"messages","a":[1,2]}',
      '"messages":[1,2]',
    ]
    for (const text of [...texts, '{"messages" [1,2]}', '{"mess\\u0061ges":[1,2]}']) expect(keptOf(text, 3)).toBe(text)
  })
})

it('accepts a chat with photos of any total length', async () => {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted(() => ({ text: 'ok' })) }) })
  const app = createAgentApp({ sessions, authorize: () => true, maxBodyBytes: 100_000 })
  const chat = async (messages: object[]) => {
    const body = JSON.stringify({ id: 'photos', messages, trigger: 'submit-message' })
    return app.request('/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }
  const photo = { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${'A'.repeat(60_000)}` }
  const messages: object[] = []
  for (let at = 0; at < 12; at++) {
    messages.push({ id: `message-${at}`, role: 'user', parts: [{ type: 'text', text: `Photo ${at}.` }] })
    const answer = await chat(messages)
    expect([at, answer.status]).toEqual([at, 200])
    await answer.text()
    messages.push({ id: `answer-${at}`, role: 'assistant', parts: [photo] })
  }
  const { messages: said } = await (await app.request('/chat/photos')).json()
  expect(said).toHaveLength(24)
  const large = await chat([{ id: 'large', role: 'user', parts: [photo, photo] }])
  expect([large.status, (await large.json()).code]).toEqual([413, 'bodyTooLarge'])
  const endless = await chat([...Array.from({ length: 40 }, () => ({ id: 'x', parts: [photo] })), { id: 'last', role: 'user', parts: [] }])
  expect(endless.status).toBe(413)
})
