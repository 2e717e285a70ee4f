import { effect } from '@preact/signals'
import { describe, expect, it } from 'vitest'
import { EventLog } from '../../playground/src/state/log/event-log.ts'
import type { AgentEvent } from '../../src/index.ts'

const start: AgentEvent = { type: 'turnStart', runId: 'r', sessionId: 's', loopId: 'l', seq: 0, at: 0, turnIndex: 0, triggeredBy: 'user' }

describe('EventLog', () => {
  /** Every property that a component can read, also one that is added later. */
  const properties = Object.entries(Object.getOwnPropertyDescriptors(EventLog.prototype)).flatMap(([name, { get }]) =>
    get === undefined || get.call(new EventLog())?.subscribe !== undefined ? [] : [{ name, get }],
  )

  it('exposes state only through signals', () => {
    expect(Object.keys(new EventLog())).toEqual([])
    expect(properties.map(({ name }) => name)).toContain('requests')
  })

  it.each(properties)('notifies an effect that read $name of an empty log', ({ get }) => {
    const log = new EventLog()
    let looks = 0
    const leave = effect(() => {
      get.call(log)
      looks += 1
    })
    log.add(start)
    log.publish()
    leave()
    expect(looks).toBe(2)
  })
})
