import { describe, expect, it } from 'vitest'
import { ConfigError, CursorExpiredError } from '../../src/contract/errors.ts'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import { EventLog } from '../../src/stream/event-log.ts'
import { drain, RunEvents, textIn } from './run-events.ts'

function newLog(replayBytes?: number): { log: EventLog; run: RunEvents; errors: unknown[] } {
  const errors: unknown[] = []
  const onListenerError = (error: unknown) => void errors.push(error)
  return { log: new EventLog({ onListenerError, ...(replayBytes !== undefined && { replayBytes }) }), run: new RunEvents(), errors }
}

/** What `act` throws. */
function thrown(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

describe('reading an event log', () => {
  it('delivers the same events in order to early and late readers, and ends', async () => {
    const { log, run } = newLog()
    const early = drain(log.read())
    const sent = [run.turn(), run.text('a'), run.text('b'), run.progress('p')]
    log.append(sent[0] as AgentEvent)
    await undefined
    for (const event of sent.slice(1)) log.append(event)
    const late = log.read({})
    log.close()
    for (const events of [await early, await drain(late), await drain(log.read())]) {
      expect(events).toEqual(sent)
      // Deltas are made again for readers, without their neighbours' objects being kept.
      expect(events.every((event, index) => event === sent[index] || event.type === 'messageUpdate')).toBe(true)
    }
  })

  it('delivers unmerged deltas from any start position', async () => {
    const { log, run } = newLog()
    const call = (toolCallId: string, delta: string) =>
      run.delta({ type: 'toolCallDelta', contentIndex: 0, toolCallId, toolName: 'add', delta })
    const sent: AgentEvent[] = [run.text('a'), { ...run.text('b'), at: 1_760_000_090_000 }, { ...run.text('c'), at: 1_759_999_999_000 }]
    sent.push(run.text('d', 'm2'), run.text('e', 'm2', 1), run.delta({ type: 'thinking', contentIndex: 1, delta: 'f' }, 'm2'))
    sent.push(call('c1', '{'), call('c1', '}'), call('c2', '{}'))
    run.seq += 3
    sent.push(call('c2', ' '), { ...run.text('hi'), fromSeq: 14, seq: 15 })
    run.seq = 15
    sent.push(run.text('j'), run.progress('p'), run.text('k'))
    for (const event of sent) log.append(event)
    log.close()
    for (let after = 0; after <= 18; after++) {
      if (after !== 14) expect(await drain(log.read({ after }))).toEqual(sent.filter((event) => event.seq > after))
    }
  })

  it('starts after the cursor, also one in the future', async () => {
    const { log, run } = newLog()
    log.append(run.text('a'))
    const [second, ahead] = [drain(log.read({ after: 1 })), drain(log.read({ after: 3 }))]
    for (const text of ['b', 'c', 'd']) log.append(run.text(text))
    log.close()
    expect(textIn(await second)).toBe('bcd')
    expect(textIn(await ahead)).toBe('d')
  })

  it('resolves pending reads in order, and the remaining ones at the end', async () => {
    const { log, run } = newLog()
    const reader = log.read()
    const calls = [1, 2, 3, 4].map(() => reader.next())
    const sent = [run.text('a'), run.text('b'), run.text('c')]
    for (const event of sent) log.append(event)
    log.close()
    const results = await Promise.all(calls)
    expect(results.map((result) => result.value)).toEqual([...sent, undefined])
    expect(results.map((result) => result.done)).toEqual([false, false, false, true])
    expect(await reader.next()).toEqual({ done: true, value: undefined })
  })

  it('returns available events to a non-waiting reader, each event once', async () => {
    const { log, run } = newLog()
    const reader = log.read()
    expect(reader.ready()).toBeUndefined()
    const sent = [run.turn(), run.text('a'), run.text('b'), run.progress('p')]
    for (const event of sent.slice(0, 3)) log.append(event)
    expect([reader.ready(), (await reader.next()).value, reader.ready(), reader.ready()]).toEqual([...sent.slice(0, 3), undefined])
    // Who waits comes first.
    const waiting = reader.next()
    log.append(sent[3] as AgentEvent)
    expect([reader.ready(), (await waiting).value]).toEqual([undefined, sent[3]])
    log.close()
    expect([reader.ready(), (await reader.next()).done]).toEqual([undefined, true])
  })

  it('ends only for the reader that returns', async () => {
    const { log, run } = newLog()
    const [leaving, staying] = [log.read(), log.read()]
    const [waiting, other] = [leaving.next(), staying.next()]
    expect(await leaving.return?.()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: true, value: undefined })
    log.append(run.text('a'))
    expect(await leaving.next()).toEqual({ done: true, value: undefined })
    expect((await other).value).toMatchObject({ seq: 1 })
    for await (const _event of log.read()) break
    log.append(run.text('b'))
    expect((await staying.next()).value).toMatchObject({ seq: 2 })
  })

  it('ignores events after it is closed', async () => {
    const { log, run } = newLog()
    log.append(run.text('a'))
    log.close()
    log.close()
    log.append(run.text('b'))
    expect(textIn(await drain(log.read()))).toBe('a')
  })

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects the cursor %d', (after) => {
    const { log } = newLog()
    expect(thrown(() => log.read({ after }))).toBeInstanceOf(ConfigError)
  })

  it.each([-1, Number.NaN])('rejects a budget of %d', (replayBytes) => {
    expect(thrown(() => newLog(replayBytes))).toBeInstanceOf(ConfigError)
  })
})

describe('subscribing to an event log', () => {
  it('calls listeners synchronously, in order, until they unsubscribe', () => {
    const { log, run } = newLog()
    const heard: string[] = []
    const stop = log.subscribe((event) => heard.push(`a${event.seq}`))
    log.subscribe((event) => heard.push(`b${event.seq}`))
    log.append(run.turn())
    expect(heard).toEqual(['a1', 'b1'])
    stop()
    stop()
    log.append(run.turn())
    expect(heard).toEqual(['a1', 'b1', 'b2'])
  })

  it('accepts the same function twice, and unsubscribes each separately', () => {
    const { log, run } = newLog()
    let calls = 0
    const listener = () => void calls++
    const stop = log.subscribe(listener)
    log.subscribe(listener)
    log.append(run.turn())
    stop()
    log.append(run.turn())
    expect(calls).toBe(3)
  })

  it('reports errors that a listener throws or rejects with, and continues', async () => {
    const { log, run, errors } = newLog()
    const heard: number[] = []
    log.subscribe(() => {
      throw new Error('thrown')
    })
    log.subscribe(async () => {
      throw new Error('rejected')
    })
    log.subscribe((event) => heard.push(event.seq))
    log.append(run.turn())
    await undefined
    expect(heard).toEqual([1])
    expect(errors).toEqual([new Error('thrown'), new Error('rejected')])
  })

  it('survives an error handler that throws', () => {
    const log = new EventLog({
      onListenerError: () => {
        throw new Error('no logger')
      },
    })
    log.subscribe(() => {
      throw new Error('thrown')
    })
    expect(() => log.append(new RunEvents().turn())).not.toThrow()
  })

  it('allows subscribing and unsubscribing during an event', () => {
    const { log, run } = newLog()
    const heard: string[] = []
    const stopFirst = log.subscribe((event) => {
      heard.push(`first${event.seq}`)
      stopFirst()
      stopSecond()
      log.subscribe((later) => heard.push(`added${later.seq}`))
    })
    const stopSecond = log.subscribe(() => heard.push('second'))
    log.append(run.turn())
    log.append(run.turn())
    expect(heard).toEqual(['first1', 'added2'])
  })

  it('keeps the order if a listener appends another event', () => {
    const { log, run } = newLog()
    const heard: string[] = []
    log.subscribe((event) => {
      heard.push(`a${event.seq}`)
      if (event.seq === 1) {
        log.append(run.turn())
        log.subscribe((later) => heard.push(`late${later.seq}`))
      }
    })
    log.subscribe((event) => heard.push(`b${event.seq}`))
    log.append(run.turn())
    log.append(run.turn())
    expect(heard).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'late3'])
  })
})

describe('an event log over its budget', () => {
  const budget = 20_000

  it('merges the deltas that a reader missed, block by block', async () => {
    const { log, run } = newLog(budget)
    const reader = log.read()
    let text = ''
    for (let count = 0; count < 2000; count++) {
      if (count === 1000) log.append(run.turn())
      log.append(count % 500 < 250 ? run.text(`${count} `) : run.delta({ type: 'thinking', contentIndex: 1, delta: `${count} ` }))
      text += `${count} `
    }
    log.close()
    const events = await drain(reader)
    expect(textIn(events)).toBe(text)
    expect(events.length).toBeLessThan(400)
    const [first] = events
    expect(first).toMatchObject({ type: 'messageUpdate', fromSeq: 1, delta: { type: 'text', contentIndex: 0 } })
    expect(first?.seq).toBeGreaterThan(50)
    expect(first?.at).toBe(1_760_000_000_000 + (first?.seq ?? 0))
    expect(events.find((event) => event.type === 'turnStart')).toMatchObject({ seq: 1001 })
  })

  it('keeps tool name and id in merged deltas, and separates calls', async () => {
    const { log, run } = newLog(budget)
    const reader = log.read()
    const call = (toolCallId: string, delta: string) =>
      run.delta({ type: 'toolCallDelta', contentIndex: 0, toolCallId, toolName: 'add', delta })
    for (const id of ['c1', 'c2']) for (let count = 0; count < 500; count++) log.append(call(id, '.'))
    log.close()
    const events = await drain(reader)
    expect(events[0]).toMatchObject({ fromSeq: 1, delta: { type: 'toolCallDelta', toolCallId: 'c1', toolName: 'add' } })
    expect(events.find((event) => event.seq > 500)).toMatchObject({ fromSeq: 501, delta: { toolCallId: 'c2' } })
  })

  it('keeps roughly the newest missed tool update per call', async () => {
    const { log, run } = newLog(budget)
    const reader = log.read()
    for (let count = 0; count < 5000; count++) log.append(run.toolUpdate(`c${count % 3}`, `${count}`))
    log.append(run.progress('done'))
    log.close()
    const events = await drain(reader)
    const last = (id: string) => events.findLast((event) => event.type === 'toolExecutionUpdate' && event.toolCallId === id)
    expect(events.length).toBeLessThan(100)
    expect(['c0', 'c1', 'c2'].map((id) => last(id)?.seq)).toEqual([4999, 5000, 4998])
    expect(events.at(-1)).toMatchObject({ type: 'progressMessage' })
  })

  it('drops missed deltas of child loops, but no other child events', async () => {
    const { log, run } = newLog(budget)
    const child = new RunEvents()
    const reader = log.read()
    for (let count = 0; count < 5000; count++) log.append(run.child(child.text('abc')))
    log.append(run.child(child.progress('child done')))
    for (let count = 0; count < 300; count++) log.append(run.progress(`${count}`))
    log.close()
    const events = await drain(reader)
    const ofChild = events.filter((event) => event.type === 'childEvent')
    expect(ofChild.length).toBeLessThan(200)
    expect(ofChild.at(-1)).toMatchObject({ event: { type: 'progressMessage', text: 'child done' } })
  })

  it('drops no other event before a reader receives it', async () => {
    const { log, run } = newLog(budget)
    const reader = log.read()
    for (let count = 0; count < 3000; count++) log.append(run.progress(`${count}`))
    log.close()
    expect((await drain(reader)).map((event) => event.seq)).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1))
  })

  it('evicts the oldest events without lagging readers, and reports the oldest cursor', async () => {
    const { log, run } = newLog(budget)
    expect(log.oldest).toBe(0)
    for (let count = 0; count < 3000; count++) log.append(run.progress(`${count}`))
    const error = thrown(() => log.read({ after: 10 }))
    expect(error).toBeInstanceOf(CursorExpiredError)
    expect(error).toMatchObject({ code: 'cursorExpired', oldest: log.oldest })
    expect(log.oldest).toBeGreaterThan(2900)
    const reader = log.read({ after: log.oldest })
    log.close()
    const seqs = (await drain(reader)).map((event) => event.seq)
    expect(seqs).toEqual(Array.from({ length: 3000 - log.oldest }, (_, index) => log.oldest + 1 + index))
  })

  it('keeps the newest half of the budget unmerged', async () => {
    const { log, run } = newLog(budget)
    for (let count = 0; count < 3000; count++) log.append(run.text('word '))
    const exact = Math.floor(budget / 2 / 50)
    for (let after = 3000 - exact; after <= 3000; after++) await log.read({ after }).return?.()
    const reader = log.read({ after: 3000 - exact })
    log.close()
    expect(await drain(reader)).toHaveLength(exact)
  })

  it('expires a cursor inside a merged event', () => {
    const { log, run } = newLog(budget)
    for (let count = 0; count < 500; count++) log.append(run.text('word '))
    expect(log.oldest).toBe(0)
    expect(thrown(() => log.read({ after: 5 }))).toMatchObject({ code: 'cursorExpired', oldest: 0 })
    expect(() => log.read({ after: 0 })).not.toThrow()
  })

  it('releases the events of a reader that returns', async () => {
    const { log, run } = newLog(budget)
    const reader = log.read()
    for (let count = 0; count < 1000; count++) log.append(run.progress('p'))
    expect(log.oldest).toBe(0)
    await reader.return?.()
    for (let count = 0; count < 1000; count++) log.append(run.progress('p'))
    expect(log.oldest).toBeGreaterThan(1900)
  })

  it('keeps no history with a budget of 0, and still delivers every event', async () => {
    const { log, run } = newLog(0)
    const reader = log.read()
    for (const text of ['a', 'b', 'c']) log.append(run.text(text))
    log.append(run.turn())
    log.close()
    expect(textIn(await drain(reader))).toBe('abc')
  })

  it.each<[string, unknown]>([
    ['cyclic', Object.assign([], { 0: [] as unknown[] })],
    ['long', Array.from({ length: 100_000 }, () => 1)],
    ['deep', JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)],
  ])('accepts a tool update whose details are %s', (name, details) => {
    const { log, run } = newLog(budget)
    if (name === 'cyclic' && Array.isArray(details)) details[0] = details
    const update = run.toolUpdate('c1', 'x')
    Object.assign(update.partialResult, { details })
    expect(() => log.append(update)).not.toThrow()
  })
})
