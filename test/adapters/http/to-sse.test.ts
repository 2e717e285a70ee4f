import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toSse } from '../../../adapters/http/index.ts'
import { anyRun } from '../../store/arbitrary-run.ts'
import { asRun, assistant, textDelta } from '../../store/events.ts'

describe('toSse', () => {
  it('writes cursor, type and the event on one line each', () => {
    const [event] = asRun([textDelta('m', 'two\nlines')])
    if (event === undefined) throw new Error('no event')
    expect(toSse(event)).toBe(`id: 1\nevent: messageUpdate\ndata: ${JSON.stringify(event)}\n\n`)
  })

  it('never breaks a frame, whatever the model says', () => {
    fc.assert(
      fc.property(anyRun, (events) => {
        for (const event of events) {
          const lines = toSse(event).split(/\r\n|\r|\n/)
          expect(lines).toHaveLength(5)
          expect(JSON.parse(lines[2]?.slice('data: '.length) ?? '')).toMatchObject({ seq: event.seq, type: event.type })
        }
      }),
    )
  })

  it('gives the same text for a message that begins, before and after its live view has grown', () => {
    const live = assistant('m')
    const [event] = asRun([{ type: 'messageStart', messageId: 'm', message: live }])
    if (event === undefined || live.role !== 'assistant') throw new Error('no event')
    const before = toSse(event)
    live.content.push({ type: 'text', text: 'later' })
    live.stopReason = 'error'
    live.errorMessage = 'later too'
    live.usage = { ...live.usage, output: 5 }
    expect(toSse(event)).toBe(before)
  })
})
