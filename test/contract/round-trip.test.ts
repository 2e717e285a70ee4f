import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentMessage } from '../../src/contract/message/message.ts'
import { agentEvent } from '../../src/contract/run/event.ts'
import { loopRecord, session } from '../../src/contract/session/session.ts'
import { sessionEntry } from '../../src/contract/session/session-record.ts'
import { fits, fitsLog } from '../../src/contract/shape/read.ts'
import { type Shape, tagsOf } from '../../src/contract/shape/shape.ts'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { exportSession, importSession, parseMessages, parseSession, parseSnapshot, serializeMessages } from '../../src/session.ts'
import { runs } from '../support/runs.ts'
import { valuesOf } from './arbitrary-shape.ts'

const history = fc
  .uniqueArray(valuesOf(agentMessage), { selector: ({ id }) => id, maxLength: 4 })
  .filter((all) => all.every(({ id }) => id !== ''))
const fresh = (messages: Parameters<typeof serializeMessages>[0] = []) => new Agent({ model: scripted([]), messages })

describe('round trips through all readers', () => {
  it('preserves messages through an agent, serialization and snapshots', () => {
    fc.assert(
      fc.property(history, (messages) => {
        const agent = fresh(messages)
        expect(agent.messages).toEqual(messages)
        // What is whole is the same object: what is known of it stays known.
        for (const [at, message] of agent.messages.entries()) expect(message).toBe(messages[at])
        expect(parseMessages(serializeMessages(agent.messages))).toEqual(messages)
        const other = fresh()
        other.restore(parseSnapshot(JSON.stringify(agent.checkpoint())))
        expect(other.messages).toEqual(messages)
        expect(fresh(other.messages).messages).toEqual(messages)
      }),
      { numRuns: runs(60, 1500) },
    )
  })

  it('preserves sessions through text, a store, export and import', async () => {
    const loops = fc.uniqueArray(valuesOf(loopRecord), { selector: ({ loopId }) => loopId, maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(valuesOf(session), loops, async (around, inside) => {
        const whole = { ...around, sessionId: 's', loops: inside.map((loop) => ({ ...loop, sessionId: 's', events: [] })) }
        expect(parseSession(JSON.stringify(whole))).toEqual(whole)
        const [from, to] = [memorySessionStore(), memorySessionStore()]
        await from.save(whole)
        await importSession(to, await exportSession(from, 's'))
        expect(await to.load('s')).toEqual(await from.load('s'))
      }),
      { numRuns: runs(30, 600) },
    )
  })

  const unions: [string, Shape][] = [
    ['log entries', sessionEntry],
    ['events', agentEvent],
  ]
  it.each(unions)('reads every value that this version writes: %s', (_what, shape) => {
    expect(tagsOf(shape).length).toBeGreaterThan(10)
    fc.assert(
      fc.property(valuesOf(shape), (value) => {
        const read: unknown = JSON.parse(JSON.stringify(value))
        expect([fits(shape, read), fitsLog(shape, read)]).toEqual([true, true])
      }),
      { numRuns: runs(80, 2000) },
    )
  })
})
