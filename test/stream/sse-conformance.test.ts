import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decode } from './frames.ts'

const file = new URL('../../../shared/conformance/sse/cases.json', import.meta.url)
const isPresent = existsSync(file)
if (!isPresent) console.warn('SKIPPED: ../shared/conformance/sse is absent; the framing cases of WPT and others are not run')

interface Case {
  name: string
  chunks: string[]
  /** Absent for very long frames. */
  events: { event: string; data: string }[] | null
  eventCount: number
  dataLengths: number[]
}

const cases: Case[] = isPresent ? JSON.parse(readFileSync(file, 'utf8')).cases : []

/** The recorded outcome drops a frame that no blank line closed; `end` reports it, as model services need. */
const unclosed = new Set(['wpt-data-before-final-empty-line', 'own-no-final-blank', 'own-no-final-newline', 'esp-mixed-comments'])

describe.skipIf(!isPresent)('recorded server-sent events', () => {
  it.each(cases)('decodes $name', ({ name, chunks, events, eventCount, dataLengths }) => {
    const bytes = chunks.map((chunk) => new Uint8Array(Buffer.from(chunk, 'base64')))
    const frames = decode(bytes, 'cut')
    expect(frames).toHaveLength(eventCount)
    if (events) {
      expect(frames.map((frame) => [frame.event ?? 'message', frame.data])).toEqual(events.map((event) => [event.event, event.data]))
    } else {
      expect(frames.slice(0, dataLengths.length).map((frame) => frame.data.length)).toEqual(dataLengths.slice(0, frames.length))
    }
    expect(decode(bytes, 'end')).toHaveLength(eventCount + (unclosed.has(name) ? 1 : 0))
  })

  it('contains every recorded case', () => expect(cases.length).toBeGreaterThan(140))
})
