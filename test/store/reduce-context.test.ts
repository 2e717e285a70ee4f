import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnnotatedRequest } from '../../src/contract/model/request.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import { childOf, initialState, type RunState, reduce } from '../../src/store.ts'
import { anyRun } from './arbitrary-run.ts'
import { agentEnd, agentStart, asRun, type EventBody, end, start, textDelta, turnStart } from './events.ts'

function reduceAll(events: readonly AgentEvent[], from: RunState = initialState()): RunState {
  return events.reduce(reduce, from)
}

function stateOf(...bodies: EventBody[]): RunState {
  return reduceAll(asRun([agentStart, turnStart, ...bodies]))
}

const started: EventBody = { type: 'compactionStarted', estimatedTokens: 900, messageCount: 12 }
const figures = { messagesBefore: 12, messagesAfter: 5, estimatedTokensBefore: 900, estimatedTokensAfter: 300, loopsCompacted: 1 }
const same = { messagesBefore: 12, messagesAfter: 12, estimatedTokensBefore: 900, estimatedTokensAfter: 900, loopsCompacted: 0 }
const ended: EventBody = { type: 'compactionEnded', ...figures }

describe('reduce: context notes', () => {
  it('shows a compaction in progress and its result in one note', () => {
    const running = stateOf(start('m'), end('m', []), started)
    expect(running.notes).toEqual([
      { id: 'run-1:5', at: 1040, afterMessageId: 'm', type: 'compaction', status: 'running', messagesBefore: 12, tokensBefore: 900 },
    ])
    const done = stateOf(start('m'), end('m', []), started, ended)
    const shown = { messagesBefore: 12, messagesAfter: 5, tokensBefore: 900, tokensAfter: 300, loopsCompacted: 1 }
    expect(done.notes).toEqual([{ id: 'run-1:5', at: 1040, afterMessageId: 'm', type: 'compaction', status: 'done', ...shown }])
    expect(done.messages).toHaveLength(1)
  })

  it('reports a failed compaction', () => {
    const error = { code: 'other', message: 'no model' }
    expect(stateOf(started, { type: 'compactionEnded', ...same, error }).notes).toMatchObject([{ status: 'failed', error }])
    expect(stateOf(started, { type: 'compactionEnded', ...same }).notes).toMatchObject([{ status: 'failed' }])
  })

  it('creates the compaction note from the end event alone', () => {
    expect(stateOf(ended).notes).toMatchObject([{ status: 'done', tokensBefore: 900, tokensAfter: 300 }])
    expect(stateOf(started, ended, started, ended).notes).toHaveLength(2)
  })

  it('keeps prunes and reverts in order, including rejected ones', () => {
    const prune: EventBody = { type: 'prunApplied', tokensRemoved: 40, messagesRemoved: 2, prunedMessageIds: ['a', 'b'], memo: 'dead end' }
    const revert: EventBody = { type: 'revertApplied', category: 'failure', target: 1, abandonedNodeIds: [2], applied: true, summary: 's' }
    const refused: EventBody = {
      type: 'revertApplied',
      category: 'tangent',
      target: 9,
      abandonedNodeIds: [],
      applied: false,
      reason: 'none',
    }
    const state = stateOf(prune, start('m'), end('m', []), revert, refused)
    expect(state.notes).toEqual([
      { id: 'run-1:3', at: 1020, type: 'prune', tokensRemoved: 40, messagesRemoved: 2, messageIds: ['a', 'b'], memo: 'dead end' },
      expect.objectContaining({ afterMessageId: 'm', type: 'revert', category: 'failure', target: 1, applied: true, summary: 's' }),
      expect.objectContaining({ afterMessageId: 'm', type: 'revert', applied: false, reason: 'none' }),
    ])
  })
})

describe('reduce: rejections', () => {
  it('ends a run that beforeLoop rejected before agentStart', () => {
    const [event] = asRun([{ ...agentEnd('rejected'), rejection: 'beforeLoop said no' } as EventBody])
    if (event === undefined) throw new Error('no event')
    const before = reduceAll(asRun([agentStart, start('a'), end('a', []), agentEnd()], 'run-0'))
    const state = reduce(before, { ...event, runId: 'run-1' })
    expect(state).toMatchObject({ status: 'rejected', rejection: 'beforeLoop said no', runId: 'run-1', seq: 1 })
    expect(state.messages).toBe(before.messages)
    expect(reduce(initialState(), event)).toMatchObject({ status: 'rejected', rejection: 'beforeLoop said no' })
  })

  it('keeps the reason of a rejected input until the next run', () => {
    const rejected = stateOf({ type: 'inputRejected', reason: 'no secrets' }, agentEnd('rejected'))
    expect(rejected).toMatchObject({ status: 'rejected', rejection: 'no secrets' })
    expect(reduceAll(asRun([agentStart], 'run-2'), rejected).rejection).toBeUndefined()
  })
})

describe('reduce: end reasons', () => {
  it('keeps the limit or endedBy until the next run', () => {
    const reached = { name: 'maxTurns', reason: 'Max turns reached (2/2)', max: 2, used: 2 } as const
    const limited = stateOf({ ...agentEnd('limit'), limit: reached } as EventBody)
    expect(limited).toMatchObject({ status: 'limit', limit: reached })
    const ended = reduceAll(
      asRun([agentStart, { ...agentEnd(), endedBy: { type: 'condition', name: 'enough' } } as EventBody], 'run-2'),
      limited,
    )
    expect(ended).toMatchObject({ status: 'completed', endedBy: { type: 'condition', name: 'enough' } })
    expect(ended.limit).toBeUndefined()
    expect(reduceAll(asRun([agentStart], 'run-3'), ended).endedBy).toBeUndefined()
  })
})

describe('reduce: requests and branches', () => {
  it("keeps a run's last request", () => {
    const request = (systemPrompt: string): AnnotatedRequest => ({
      systemPrompt,
      messages: [],
      provenance: [],
      tools: [],
      modelId: 'm',
      provider: 'p',
      api: 'scripted',
      thinkingLevel: 'off',
    })
    const second = request('b')
    const asked = (turnIndex: number, sent: AnnotatedRequest): EventBody => ({ type: 'turnRequest', turnIndex, request: sent })
    expect(stateOf(asked(0, request('a')), asked(1, second)).lastRequest).toBe(second)
  })

  it('tracks branches from their start to the selection', () => {
    const usage = { ...emptyUsage(), output: 3, totalTokens: 3 }
    const chosen: EventBody = { type: 'parallelLoopEnd', selectedLoopId: 'b', selectedConfigIndex: 1, evaluationUsage: usage }
    const running = reduceAll(asRun([{ type: 'parallelLoopStart', loopIds: ['a', 'b'] }]))
    expect(running).toMatchObject({ status: 'running', branches: { loopIds: ['a', 'b'] } })
    const done = reduceAll(asRun([{ type: 'parallelLoopStart', loopIds: ['a', 'b'] }, chosen]))
    expect(done).toMatchObject({
      status: 'completed',
      usage,
      branches: { loopIds: ['a', 'b'], selectedLoopId: 'b', selectedConfigIndex: 1 },
    })
    expect(reduceAll(asRun([chosen])).branches?.loopIds).toEqual(['b'])
  })
})

describe('reduce: sub-agents', () => {
  const call = { toolCallId: 'c1', toolName: 'researcher' }
  const ran: EventBody = { type: 'toolExecutionStart', ...call, args: {} }
  const done: EventBody = { type: 'toolExecutionEnd', ...call, result: { content: [] }, isError: false }
  const reported = (events: readonly AgentEvent[]) => events.map((event): EventBody => ({ type: 'childEvent', ...call, event }))
  const child = asRun(
    [agentStart, start('x'), textDelta('x', 'Hel'), textDelta('x', 'lo'), end('x', [{ type: 'text', text: 'Hello' }])],
    'child',
  )

  it('adds child messages separately from the run, grouped by call', () => {
    const growing = stateOf(ran, ...reported(child.slice(0, 3)))
    expect(childOf(growing, 'c1')).toMatchObject({ status: 'running', live: { id: 'x', blocks: [{ type: 'text', text: 'Hel' }] } })
    expect(growing.messages).toEqual([])
    const finished = [...child, ...asRun([agentEnd()], 'child').map((event) => ({ ...event, seq: 6 }))]
    const state = stateOf(ran, ...reported(finished), done)
    expect(state.children).toEqual({})
    expect(state.tools.c1?.child).toBe(childOf(state, 'c1'))
    expect(childOf(state, 'c1')).toMatchObject({ status: 'completed', messages: [{ id: 'x', status: 'done' }], usage: { output: 7 } })
    expect(state.usage).toEqual(emptyUsage())
    expect(childOf(state, 'other')).toBeUndefined()
  })

  it('reduces sub-agent events to the same state as a separate run', () => {
    fc.assert(
      fc.property(anyRun, (events) => {
        expect(childOf(stateOf(ran, ...reported(events)), 'c1')).toEqual(reduceAll(events))
      }),
    )
  })

  it("leaves the run's messages and tools unchanged on child deltas", () => {
    const before = stateOf(start('m'), end('m', []), ran, ...reported(child.slice(0, 2)))
    const [event] = asRun(reported(child.slice(2, 3)))
    if (event === undefined) throw new Error('no event')
    const next = reduce(before, { ...event, seq: before.seq + 1 })
    expect(next.messages).toBe(before.messages)
    expect(next.tools).toBe(before.tools)
    expect(childOf(next, 'c1')).not.toBe(childOf(before, 'c1'))
  })

  it('keeps only the newest messages of a sub-agent and their calls', () => {
    const many = Array.from({ length: 80 }, (_, n): EventBody[] => {
      const made = { type: 'toolCall' as const, id: `call-${n}`, name: 'look', arguments: {} }
      return [{ ...turnStart, turnIndex: n } as EventBody, started, ended, start(`m${n}`), end(`m${n}`, [made])]
    })
    const state = childOf(stateOf(ran, ...reported(asRun(many.flat(), 'child'))), 'c1')
    expect(state?.messages.map((view) => view.id)).toEqual(Array.from({ length: 50 }, (_, n) => `m${n + 30}`))
    expect(Object.keys(state?.tools ?? {})).toEqual(Array.from({ length: 50 }, (_, n) => `call-${n + 30}`))
    expect([state?.turns.length, state?.notes.length]).toEqual([50, 50])
  })

  it('marks a child without an end event as aborted', () => {
    const open: EventBody = { type: 'toolExecutionStart', toolCallId: 'inner', toolName: 'look', args: {} }
    const cut = [...reported(asRun([agentStart, open], 'child'))]
    expect(childOf(stateOf(ran, ...cut, done), 'c1')).toMatchObject({ status: 'aborted', tools: { inner: { status: 'cancelled' } } })
    const ended = stateOf(ran, ...cut, agentEnd('aborted'))
    expect(ended.children).toEqual({})
    expect(ended.tools.c1).toMatchObject({ status: 'cancelled', child: { status: 'aborted' } })
  })

  it('resets the state of a sub-agent for a repeated call id', () => {
    const again = asRun([agentStart, start('y')], 'second child')
    const asked = end('m', [{ type: 'toolCall', id: 'c1', name: 'researcher', arguments: {} }])
    const state = stateOf(ran, ...reported(child), done, start('m'), asked, ran, ...reported(again))
    expect(childOf(state, 'c1')?.messages).toEqual([])
    expect(childOf(state, 'c1')?.live?.id).toBe('y')
  })
})
