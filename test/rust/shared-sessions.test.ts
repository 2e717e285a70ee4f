import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventFromSpec, eventToSpec, fromSpecJson, toSpecJson } from '../../src/rust.ts'
import { canonical } from './arbitrary.ts'

const folder = new URL('../../../shared/conformance/sessions/', import.meta.url)
const found = existsSync(folder)
if (!found) console.warn('SKIPPED: ../shared/conformance/sessions is absent; no stored sessions of the Rust crate are read')

interface Stored {
  loops: { messages: { role: string }[]; events: { event: { type: string } }[] }[]
}

function files(name: string): string[] {
  const names = found ? readdirSync(new URL(name, folder)) : []
  return names.filter((file) => file.endsWith('.json') && !file.startsWith('bad-')).map((file) => `${name}${file}`)
}

function read(file: string): Stored {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
}

/** Without the ids added here, and without what Rust leaves to its defaults. */
function asThere(text: string): unknown {
  const messages: object[] = JSON.parse(text)
  return messages.map((message) => ({ ...message, id: undefined }))
}

/** The payload of a `TurnRequest`, with what we add to it: the service. */
function withService(event: object): unknown {
  const payload: unknown = Reflect.get(event, 'payload')
  return Object.assign({ provider: '', api: 'anthropicMessages' }, payload)
}

const snapshot = { model: '', provider: '', name: '', api: 'anthropicMessages', baseUrl: '', reasoning: false } as const
const defaults = {
  ...{ runId: 'r', seq: 1, at: 0, sessionId: 's' },
  configSnapshot: { ...snapshot, contextWindow: 0, maxTokens: 0, thinkingLevel: 'off' as const },
}

describe.skipIf(!found)('sessions stored by the Rust crate', () => {
  it.each([...files('real/'), ...files('handmade/')])('preserves the messages of %s', (file) => {
    for (const { messages } of read(file).loops) {
      // Files from before some usage fields existed gain their zeros on the first write.
      const text = asThere(toSpecJson(fromSpecJson(JSON.stringify(messages))))
      if (!file.includes('legacy')) expect(canonical(text)).toBe(canonical(messages))
      expect(canonical(asThere(toSpecJson(fromSpecJson(JSON.stringify(text)))))).toBe(canonical(text))
    }
  })

  it.each(files('real/'))('reads and writes every event with a counterpart in %s', (file) => {
    for (const { events } of read(file).loops) {
      for (const { event } of events) {
        const native = eventFromSpec(event, defaults)
        expect(native && eventToSpec(native)).toMatchObject({ type: event.type })
        if (event.type === 'TurnRequest') expect(canonical(native && eventToSpec(native)?.payload)).toBe(canonical(withService(event)))
      }
    }
  })
})
