import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventEncoder } from '../../../src/client.ts'
import type { AgentEvent } from '../../../src/index.ts'
import type { ShownEvents } from '../../../src/ui/shared/encoding.ts'
import { anyRun } from '../../store/arbitrary-run.ts'
import { asRun, assistant, type EventBody, textDelta } from '../../store/events.ts'

/** The first frame of a connection is whole. */
const firstFrame = (event: AgentEvent, shown?: ShownEvents): string => eventEncoder(shown).sse(event)

const request: EventBody = {
  type: 'turnRequest',
  turnIndex: 0,
  request: {
    systemPrompt: 'the secret recipe',
    messages: [],
    provenance: [],
    tools: [],
    modelId: 'm',
    provider: 'p',
    api: 'scripted',
    thinkingLevel: 'off',
  },
}

/** The events as a tool reports those of its child. */
function ofChild(...bodies: EventBody[]): EventBody[] {
  return asRun(bodies, 'child').map((event) => ({ type: 'childEvent', toolCallId: 'c', toolName: 'n', event }))
}

describe('the first frame of a connection', () => {
  it('writes cursor and event on one line each', () => {
    const [event] = asRun([textDelta('m', 'two\nlines')])
    if (event === undefined) throw new Error('no event')
    expect(firstFrame(event)).toBe(`id: 1\ndata: ${JSON.stringify(event)}\n\n`)
  })

  it('keeps frames intact for any model output', () => {
    fc.assert(
      fc.property(anyRun, (events) => {
        for (const event of events) {
          const lines = firstFrame(event).split(/\r\n|\r|\n/)
          expect(lines).toHaveLength(4)
          expect(JSON.parse(lines[1]?.slice('data: '.length) ?? '')).toMatchObject({ seq: event.seq, type: event.type })
        }
      }),
    )
  })

  it('encodes a starting message the same, whatever its live view contains', () => {
    const live = assistant('m')
    const [event] = asRun([{ type: 'messageStart', messageId: 'm', message: live }])
    if (event === undefined || live.role !== 'assistant') throw new Error('no event')
    const before = firstFrame(event)
    live.content.push({ type: 'text', text: 'later' })
    live.stopReason = 'error'
    live.errorMessage = 'later too'
    live.usage = { ...live.usage, output: 5 }
    expect(firstFrame(event)).toBe(before)
  })

  it('encodes a starting child message the same, whatever its live view contains', () => {
    const live = assistant('m')
    const [event] = asRun(ofChild({ type: 'messageStart', messageId: 'm', message: live }))
    if (event === undefined || live.role !== 'assistant') throw new Error('no event')
    const before = firstFrame(event)
    live.content.push({ type: 'text', text: 'later' })
    expect(firstFrame(event)).toBe(before)
  })

  it('withholds captured requests unless requested', () => {
    for (const event of asRun([request, ...ofChild(request), ...ofChild(...ofChild(request))])) {
      expect(firstFrame(event)).toBe('')
      expect(firstFrame(event, { turnRequests: false })).toBe('')
      expect(firstFrame(event, { turnRequests: true })).toContain('the secret recipe')
    }
  })

  it('passes every other event unchanged', () => {
    const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }
    const bodies: EventBody[] = [
      { type: 'inputRejected', reason: 'no' },
      { type: 'compactionStarted', estimatedTokens: 9, messageCount: 3 },
      {
        type: 'compactionEnded',
        ...{ messagesBefore: 3, messagesAfter: 2, estimatedTokensBefore: 9, estimatedTokensAfter: 4, loopsCompacted: 0 },
      },
      { type: 'prunApplied', tokensRemoved: 3, messagesRemoved: 1, prunedMessageIds: ['m'] },
      { type: 'revertApplied', category: 'failure', target: 1, abandonedNodeIds: [2], applied: true },
      { type: 'parallelLoopStart', loopIds: ['a', 'b'] },
      { type: 'parallelLoopEnd', selectedLoopId: 'a', selectedConfigIndex: 0, evaluationUsage: usage },
      ...ofChild(textDelta('m', 'x')),
    ]
    for (const event of asRun(bodies)) {
      const [id, data = ''] = firstFrame(event).split('\n')
      expect([id, JSON.parse(data.slice('data: '.length))]).toEqual([`id: ${event.seq}`, event])
    }
  })
})
