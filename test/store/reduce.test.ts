import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import type { ToolResult } from '../../src/contract/tool/tool-result.ts'
import { allMessages, initialState, type RunState, reduce } from '../../src/store.ts'
import { anyRun, coalesce } from './arbitrary-run.ts'
import { agentEnd, agentStart, asRun, assistant, type EventBody, end, start, textDelta, turnStart } from './events.ts'

function reduceAll(events: readonly AgentEvent[], from: RunState = initialState()): RunState {
  return events.reduce(reduce, from)
}

function stateOf(...bodies: EventBody[]): RunState {
  return reduceAll(asRun([agentStart, turnStart, ...bodies]))
}

const call = { toolCallId: 'c1', toolName: 'search' }

describe('reduce: messages', () => {
  it('appends deltas to the live message, and stores it at its end', () => {
    const growing = stateOf(start('m'), textDelta('m', 'Hel'), textDelta('m', 'lo'))
    expect(growing.messages).toEqual([])
    expect(growing.live).toMatchObject({ id: 'm', status: 'streaming', blocks: [{ type: 'text', text: 'Hello' }] })
    const done = reduceAll(asRun([agentStart, turnStart, start('m'), textDelta('m', 'Hello'), end('m', [{ type: 'text', text: 'Hello' }])]))
    expect(done.live).toBeUndefined()
    expect(done.messages).toMatchObject([{ id: 'm', status: 'done', blocks: [{ type: 'text', text: 'Hello' }] }])
  })

  it('starts an assistant message empty, whatever its live view contains', () => {
    const state = stateOf({ type: 'messageStart', messageId: 'm', message: assistant('m', [{ type: 'text', text: 'too early' }]) })
    expect(state.live?.blocks).toEqual([])
  })

  it('shows a user message immediately, and keeps order', () => {
    const said = { role: 'user' as const, id: 'u', content: [{ type: 'text' as const, text: 'hi' }], timestamp: 1 }
    const state = stateOf(
      { type: 'messageStart', messageId: 'u', message: said },
      { type: 'messageEnd', messageId: 'u', message: said },
      start('m'),
    )
    expect(allMessages(state).map((message) => [message.id, message.status])).toEqual([
      ['u', 'done'],
      ['m', 'streaming'],
    ])
  })

  it('measures the thinking duration', () => {
    const thought = { type: 'messageUpdate', messageId: 'm', delta: { type: 'thinking', contentIndex: 0, delta: 'hm' } } as const
    const state = stateOf(start('m'), thought, thought, end('m', [{ type: 'thinking', thinking: 'hmhm' }]))
    expect(state.messages[0]?.blocks[0]).toEqual({ type: 'thinking', text: 'hmhm', startedAt: 1020, updatedAt: 1040 })
  })

  it('replaces only what a delta touches', () => {
    const before = stateOf(start('a'), end('a', []), start('b'), textDelta('b', 'x'))
    const event = { ...asRun([textDelta('b', 'y')])[0], seq: before.seq + 1 } as AgentEvent
    const next = reduce(before, event)
    expect(next.messages).toBe(before.messages)
    expect(next.tools).toBe(before.tools)
    expect(next.turns).toBe(before.turns)
    expect(before.live?.blocks).toEqual([{ type: 'text', text: 'x' }])
  })

  it('keeps the error of a failed message, and clears the retry notice', () => {
    const retry: EventBody = {
      type: 'providerRetry',
      turnIndex: 0,
      attempt: 1,
      maxRetries: 3,
      delayMs: 500,
      error: { code: 'rateLimited', message: 'slow down' },
      afterOutput: false,
    }
    const waiting = stateOf(retry)
    expect(waiting.retry).toEqual({ attempt: 1, maxRetries: 3, error: { code: 'rateLimited', message: 'slow down' }, retryAt: 1520 })
    const again = stateOf(retry, start('m'))
    expect(again.retry).toBeUndefined()
    expect(again.retries).toBe(1)
  })
})

describe('reduce: tools', () => {
  const argument: EventBody = {
    type: 'messageUpdate',
    messageId: 'm',
    delta: { type: 'toolCallDelta', contentIndex: 0, ...call, delta: '{"q":1}' },
  }
  const asked = [start('m'), argument, end('m', [{ type: 'toolCall', id: 'c1', name: 'search', arguments: { q: 1 } }])]
  const approval: EventBody = { type: 'approvalRequested', ...call, args: { q: 1 }, argumentsHash: 'h' }
  const result = { content: [{ type: 'text' as const, text: 'found' }] }
  const ran: EventBody = { type: 'toolExecutionStart', ...call, args: { q: 1 } }

  it('tracks a call from its first argument to its result', () => {
    const steps: [EventBody[], string][] = [
      [[start('m'), argument], 'streaming'],
      [asked, 'ready'],
      [[...asked, ran], 'running'],
      [[...asked, ran, { type: 'toolExecutionEnd', ...call, result, isError: false }], 'done'],
      [[...asked, ran, { type: 'toolExecutionEnd', ...call, result, isError: true }], 'failed'],
    ]
    for (const [events, status] of steps) expect(stateOf(...events).tools.c1?.status).toBe(status)
    expect(stateOf(...asked).tools.c1?.args).toEqual({ q: 1 })
  })

  it('keeps progress, the newest partial result and the duration', () => {
    const state = stateOf(
      ...asked,
      ran,
      { type: 'progressMessage', ...call, text: 'half way' },
      { type: 'toolExecutionUpdate', ...call, partialResult: result },
      { type: 'toolExecutionEnd', ...call, result, isError: false },
    )
    expect(state.tools.c1).toMatchObject({ progress: 'half way', partialResult: result, result, durationMs: 30 })
  })

  it('lists a pending approval until it is decided', () => {
    const waiting = stateOf(...asked, approval)
    expect(waiting.tools.c1?.status).toBe('pendingApproval')
    expect(waiting.approvals).toEqual([{ ...call, args: { q: 1 }, argumentsHash: 'h' }])
    const denied = stateOf(...asked, approval, { type: 'approvalResolved', ...call, approved: false, reason: 'no' }, ran, {
      type: 'toolExecutionEnd',
      ...call,
      result,
      isError: true,
    })
    expect(denied.approvals).toEqual([])
    expect(denied.tools.c1).toMatchObject({ status: 'denied', reason: 'no' })
  })

  it('cancels open calls when the run ends, except those of a paused run', () => {
    expect(stateOf(...asked, ran, agentEnd('aborted')).tools.c1?.status).toBe('cancelled')
    expect(stateOf(...asked, approval, agentEnd('paused')).tools.c1?.status).toBe('pendingApproval')
  })
})

describe('reduce: background tasks', () => {
  const begun = { type: 'backgroundStart', ...call, backgroundId: 'search-1', task: 'Look.' } as const
  const started = { type: 'toolExecutionStart', ...call, args: {} } as const
  const shown: ToolResult = { content: [{ type: 'text', text: 'Started.' }] }
  const answered: EventBody = { type: 'toolExecutionEnd', ...call, result: shown, isError: false }
  const report = { content: [{ type: 'text' as const, text: 'Bees.' }] }

  it('keeps a background task running after its call, until its report', () => {
    const running = stateOf(started, begun, answered)
    expect(running.tools.c1).toMatchObject({ status: 'done', background: { backgroundId: 'search-1', task: 'Look.', status: 'running' } })
    const ended = stateOf(started, begun, answered, {
      type: 'backgroundEnd',
      ...call,
      backgroundId: 'search-1',
      result: report,
      isError: false,
    })
    expect(ended.tools.c1?.background).toMatchObject({ status: 'done', result: report, durationMs: expect.any(Number) })
    expect(ended.tools.c1?.result).toEqual(shown)
  })

  it('ignores the end of another background task with the same call id', () => {
    const other = { type: 'backgroundEnd', ...call, backgroundId: 'search-9', result: report, isError: true } as const
    expect(stateOf(started, begun, answered, other).tools.c1?.background?.status).toBe('running')
  })

  it('cancels a task if the run ended without its end', () => {
    expect(stateOf(started, begun, answered, agentEnd()).tools.c1).toMatchObject({ status: 'done', background: { status: 'cancelled' } })
    expect(stateOf(started, begun, agentEnd()).tools.c1).toMatchObject({ status: 'cancelled', background: { status: 'cancelled' } })
  })
})

describe('reduce: runs', () => {
  it('keeps the conversation when the next run starts', () => {
    const first = reduceAll(asRun([agentStart, start('a'), end('a', []), agentEnd('error')]))
    const second = reduceAll(asRun([agentStart, start('b'), end('b', []), agentEnd()], 'run-2'), first)
    expect(second.messages.map((message) => message.id)).toEqual(['a', 'b'])
    expect(second).toMatchObject({ status: 'completed', usage: { output: 14 } })
    expect(second.failure).toBeUndefined()
  })

  it('sums usage by turn, and settles on the reported total', () => {
    const usage = { input: 1, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 3 }
    const turnEnd: EventBody = { type: 'turnEnd', turnIndex: 0, message: assistant('m'), usage, toolResults: [] }
    const state = stateOf(turnEnd)
    expect(state.usage).toEqual(usage)
    expect(state.turns).toMatchObject([{ turnIndex: 0, usage, endedAt: 1020 }])
    expect(stateOf(turnEnd, agentEnd()).usage.output).toBe(7)
  })

  it('ignores repeated events, keeping identity', () => {
    fc.assert(
      fc.property(anyRun, fc.nat(), (events, cut) => {
        const state = reduceAll(events)
        for (const event of events.slice(cut % events.length)) if (reduce(state, event) !== state) return false
        return true
      }),
    )
  })

  it('reaches the same state from coalesced events', () => {
    fc.assert(
      fc.property(anyRun, fc.array(fc.boolean(), { minLength: 1, maxLength: 50 }), (events, merge) => {
        expect(reduceAll(coalesce(events, merge))).toEqual(reduceAll(events))
      }),
    )
  })

  it('skips an overlapping delta, and restores the text at messageEnd', () => {
    const events = asRun([agentStart, start('m'), textDelta('m', 'a'), textDelta('m', 'b'), end('m', [{ type: 'text', text: 'ab' }])])
    const half = reduceAll(events.slice(0, 3))
    const merged = coalesce(events, [true]).slice(2)
    expect(merged[0]).toMatchObject({ seq: 4, fromSeq: 3 })
    expect(reduceAll(merged, half)).toEqual(reduceAll(events))
  })
})
