import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { AssistantMessage, LlmMessage } from '../../src/contract/message/message.ts'
import type { AnnotatedRequest } from '../../src/contract/model/request.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import type { EventBase } from '../../src/contract/run/run-facts.ts'
import type { EventDefaults } from '../../src/rust/event.ts'
import { eventFromSpec, eventToSpec } from '../../src/rust.ts'

const specEvents: { type: string }[] = JSON.parse(readFileSync(new URL('../fixtures/spec-json/events.json', import.meta.url), 'utf8'))

const base: EventBase = { runId: 'r', seq: 7, at: Date.UTC(2026, 2, 1), sessionId: 's', loopId: 'l' }

const defaults: EventDefaults = {
  ...base,
  configSnapshot: {
    model: 'm',
    provider: 'p',
    name: 'M',
    api: 'anthropicMessages',
    baseUrl: 'https://example.test',
    reasoning: false,
    contextWindow: 10,
    maxTokens: 5,
    thinkingLevel: 'off',
  },
}

const bare: AssistantMessage = {
  role: 'assistant',
  content: [{ type: 'text', text: 'Hi' }],
  stopReason: 'stop',
  model: 'm',
  provider: 'p',
  usage: { ...emptyUsage(), input: 3 },
  timestamp: 5,
}
const message: LlmMessage = { ...bare, id: 'm1', turnId: { loopId: 'l', turnIndex: 4 } }

const request: AnnotatedRequest = {
  systemPrompt: 'Be brief.',
  messages: [bare, message],
  provenance: [{ kind: 'systemPrompt' }, { kind: 'memoryTier', tier: 't', recordId: 'r' }],
  tools: [{ name: 'n', description: 'd', parameters: { type: 'object' } }],
  modelId: 'm',
  provider: 'scripted',
  api: 'scripted',
  thinkingLevel: 'high',
  maxTokens: 10,
  temperature: 0.5,
  responseFormat: { type: 'jsonSchema', name: 'answer', schema: { type: 'object' }, strict: true },
  http: { url: 'https://example.test', headers: { authorization: '[redacted]' }, body: '{}' },
}
const failed = { code: 'other', message: 'no' }
const compacted = { messagesBefore: 9, messagesAfter: 4, estimatedTokensBefore: 90, estimatedTokensAfter: 40, loopsCompacted: 2 }
const revert = { category: 'stepSummary' as const, target: 3, abandonedNodeIds: [4, 5], summary: 's', applied: true }

const events: AgentEvent[] = [
  { ...base, type: 'agentStart', agentId: 'a', continuationKind: { kind: 'rerun', tag: 't' }, configSnapshot: defaults.configSnapshot },
  { ...base, type: 'turnStart', turnIndex: 4, triggeredBy: 'subAgent' },
  { ...base, type: 'messageStart', messageId: 'm1', message },
  { ...base, type: 'messageUpdate', messageId: 'm1', delta: { type: 'text', contentIndex: 1, delta: 'H' }, fromSeq: 6 },
  { ...base, type: 'messageEnd', messageId: 'm1', message },
  { ...base, type: 'toolExecutionStart', toolCallId: 'c', toolName: 'n', args: { a: 1 } },
  { ...base, type: 'toolExecutionUpdate', toolCallId: 'c', toolName: 'n', partialResult: { content: [], isError: true } },
  { ...base, type: 'progressMessage', toolCallId: 'c', toolName: 'n', text: 'half' },
  { ...base, type: 'toolExecutionEnd', toolCallId: 'c', toolName: 'n', result: { content: [] }, isError: false, childLoopId: 'x' },
  { ...base, type: 'turnEnd', turnIndex: 4, message, usage: message.usage, toolResults: [] },
  { ...base, type: 'inputRejected', reason: 'no' },
  {
    ...base,
    type: 'agentEnd',
    status: 'paused',
    messages: [message],
    usage: message.usage,
    error: { code: 'x', message: 'y' },
    pendingApprovals: [{ toolCallId: 'c', toolName: 'n', args: {}, argumentsHash: 'h' }],
  },
  { ...base, type: 'turnRequest', turnIndex: 4, request, afterOverflow: true },
  { ...base, type: 'compactionStarted', estimatedTokens: 90, messageCount: 9 },
  { ...base, type: 'compactionEnded', ...compacted, error: failed },
  { ...base, type: 'prunApplied', tokensRemoved: 7, messagesRemoved: 2, prunedMessageIds: ['m1', 'm2'], memo: 'x' },
  { ...base, type: 'revertApplied', ...revert },
  { ...base, type: 'revertApplied', category: 'tangent', target: 3, abandonedNodeIds: [], applied: false, reason: 'no such node' },
  { ...base, type: 'parallelLoopStart', loopIds: ['l', 'k'] },
  { ...base, type: 'parallelLoopEnd', selectedLoopId: 'k', selectedConfigIndex: 1, evaluationUsage: message.usage },
  { ...base, type: 'parallelLoopEnd', selectedLoopId: 'k', selectedConfigIndex: 1, evaluationUsage: message.usage, reason: '2: shorter.' },
]

/** Whether `whole` says everything that `part` says, null and absent being the same. */
function says(whole: unknown, part: unknown): boolean {
  if (part === null) return whole === null || whole === undefined
  if (typeof part !== 'object') return Object.is(whole, part)
  const inside: unknown[] = Object.entries(part).filter(([key, value]) => !says(Reflect.get(Object(whole), key), value))
  return inside.length === 0
}

describe('eventToSpec and eventFromSpec', () => {
  it.each(events)('preserves a $type event through the crate format', (event) => {
    const spec = eventToSpec(event)
    expect(eventFromSpec(JSON.parse(JSON.stringify(spec)), { ...defaults, runId: 'other', seq: 0, at: 0, sessionId: 'other' })).toEqual(
      event,
    )
  })

  it.each(specEvents)('preserves a $type event of the crate', (spec) => {
    const event = eventFromSpec(spec, defaults)
    expect(event).toBeDefined()
    const written = event === undefined ? undefined : eventToSpec(event)
    expect(says(written, spec), JSON.stringify(written)).toBe(true)
  })

  it('writes null for the same fields as the crate', () => {
    const [start, , , , , , , , , , , end] = events
    expect(start && eventToSpec(start)).toMatchObject({ parent_loop_id: null, metadata: null, timestamp: '2026-03-01T00:00:00.000Z' })
    expect(end && eventToSpec(end)).toMatchObject({ rejection: null })
    const tool: AgentEvent = { ...base, type: 'toolExecutionEnd', toolCallId: 'c', toolName: 'n', result: { content: [] }, isError: false }
    expect(eventToSpec(tool)).toMatchObject({ child_loop_id: null, result: { details: null } })
  })

  it('returns undefined for events missing from the specification', () => {
    const error = { code: 'network', message: 'x' }
    const retry: AgentEvent = {
      ...base,
      type: 'providerRetry',
      turnIndex: 0,
      attempt: 1,
      maxRetries: 3,
      delayMs: 1,
      error,
      afterOutput: false,
    }
    expect(eventToSpec(retry)).toBeUndefined()
    expect(eventToSpec({ ...base, type: 'childEvent', toolCallId: 'c', toolName: 'n', event: retry })).toBeUndefined()
    expect(eventToSpec({ ...base, type: 'approvalResolved', toolCallId: 'c', toolName: 'n', approved: true })).toBeUndefined()
  })

  it('omits events unknown to the crate, which would reject the whole file', () => {
    const fallback = { turnIndex: 0, from: { provider: 'a', model: 'b' }, to: { provider: 'c', model: 'd' } }
    const ofService = { messageId: 'm', toolCallId: 'c', toolName: 'search' }
    const ours = [
      { ...base, type: 'modelFallback', ...fallback },
      { ...base, type: 'rateLimits', turnIndex: 0, of: fallback.from, limits: {} },
      { ...base, type: 'turnPrepared', turnIndex: 0 },
      { ...base, type: 'serviceToolStart', ...ofService },
      { ...base, type: 'serviceToolEnd', ...ofService, outcome: 'done' },
    ] as AgentEvent[]
    expect(ours.map((event) => eventToSpec(event))).toEqual(ours.map(() => undefined))
  })

  it('ignores unknown crate events, and rejects invalid ones with their path', () => {
    expect(eventFromSpec({ type: 'SomethingNew', loop_id: 'l' }, defaults)).toBeUndefined()
    expect(eventFromSpec({ type: 'constructor', loop_id: 'l' }, defaults)).toBeUndefined()
    expect(() => eventFromSpec({ type: 'TurnStart', loop_id: 'l', turn_index: 'x' }, defaults)).toThrow(
      'event.turn_index: expected number, got string',
    )
    expect(() => eventFromSpec({ type: 'InputRejected' }, defaults)).toThrow('event.loop_id: expected string, got nothing')
    const late = { type: 'TurnStart', loop_id: 'l', turn_index: 0, triggered_by: 'User', timestamp: 'yesterday' }
    expect(() => eventFromSpec(late, defaults)).toThrow('event.timestamp: expected RFC 3339 time, got string')
    const noKind = { type: 'AgentStart', loop_id: 'l', session_id: 's', agent_id: 'a', continuation_kind: null }
    expect(() => eventFromSpec(noKind, defaults)).toThrow('event.continuation_kind')
  })

  it('truncates nanoseconds to milliseconds and accepts time offsets', () => {
    const at = (timestamp: string) =>
      eventFromSpec({ type: 'TurnStart', loop_id: 'l', turn_index: 0, triggered_by: 'FollowUp', timestamp }, defaults)?.at
    expect(at('2026-03-01T10:00:00.123999999Z')).toBe(Date.UTC(2026, 2, 1, 10, 0, 0, 123))
    expect(at('2026-03-01T12:00:00.5+02:00')).toBe(Date.UTC(2026, 2, 1, 10, 0, 0, 500))
  })

  it('writes the current message into an update, or an empty one if unknown', () => {
    const update: AgentEvent = { ...base, type: 'messageUpdate', messageId: 'm1', delta: { type: 'text', contentIndex: 0, delta: 'H' } }
    expect(eventToSpec(update, () => message)).toMatchObject({ message: { content: [{ type: 'text', text: 'Hi' }] } })
    expect(eventToSpec(update)).toMatchObject({ message: { id: 'm1', role: 'assistant', content: [] } })
  })

  it('derives the run status from the messages if the JSON omits it', () => {
    const end = { type: 'AgentEnd', loop_id: 'l', usage: { input: 0, output: 0 }, rejection: null }
    const status = (fields: object) => {
      const event = eventFromSpec({ ...end, messages: [], ...fields }, defaults)
      return event?.type === 'agentEnd' ? event.status : undefined
    }
    const usage = { input: 0, output: 0 }
    expect(status({})).toBe('completed')
    expect(status({ rejection: 'no' })).toBe('rejected')
    expect(status({ messages: [{ ...bare, usage, stopReason: 'error' }] })).toBe('error')
    expect(status({ messages: [{ ...bare, usage, stopReason: 'aborted' }] })).toBe('aborted')
  })

  it('identifies pruned messages by timestamps, if known', () => {
    const pruned: AgentEvent = { ...base, type: 'prunApplied', tokensRemoved: 7, messagesRemoved: 2, prunedMessageIds: ['m1', 'gone'] }
    expect(eventToSpec(pruned)).toMatchObject({ pruned_timestamps: [], memo: null })
    const known = eventToSpec(pruned, (id) => (id === 'm1' ? message : undefined))
    expect(known).toMatchObject({ pruned_timestamps: [5], prunedMessageIds: ['m1', 'gone'] })
    expect(eventFromSpec(known, defaults)).toEqual(pruned)
    const theirs = specEvents.find((event) => event.type === 'PrunApplied')
    expect(eventFromSpec(theirs, defaults)).toMatchObject({ prunedMessageIds: [], messagesRemoved: 2 })
  })

  it('reads a revert without a target as target -1', () => {
    const theirs = { type: 'RevertApplied', loop_id: 'l', category: 'failure', target: null, abandoned_node_ids: [], applied: false }
    const event = eventFromSpec(theirs, defaults)
    expect(event).toMatchObject({ target: -1, applied: false })
    expect(event && eventToSpec(event)).toMatchObject({ target: null, summary: null, reason: null })
  })

  it('derives the loop id of a parallel event from its branches', () => {
    const loopOf = (fields: object) => eventFromSpec({ session_id: 's', ...fields }, defaults)?.loopId
    expect(loopOf({ type: 'ParallelLoopStart', loop_ids: ['l1', 'l2'] })).toBe('l1')
    const usage = { input: 0, output: 0 }
    const end = { type: 'ParallelLoopEnd', selected_loop_id: 'l2', selected_config_index: 1, evaluation_usage: usage }
    expect(loopOf(end)).toBe('l2')
    expect(() => loopOf({ type: 'ParallelLoopStart', loop_ids: [1] })).toThrow('event.loop_ids[0]: expected string, got number')
  })

  it('reads the provider and the protocol of a request from the JSON', () => {
    const theirs = specEvents.find((event) => event.type === 'TurnRequest')
    expect(eventFromSpec(theirs, defaults)).toMatchObject({ request: { provider: 'p', api: 'anthropicMessages', modelId: 'm' } })
  })

  it('rounds fractional counts up to integers', () => {
    const started: AgentEvent = { ...base, type: 'compactionStarted', estimatedTokens: 10.25, messageCount: 3 }
    expect(eventToSpec(started)).toMatchObject({ estimated_tokens: 11 })
  })

  it('omits an event of unknown type, which would make the file unreadable', () => {
    const later: AgentEvent = JSON.parse(JSON.stringify({ ...base, type: 'ofANewerVersion' }))
    expect(eventToSpec(later)).toBeUndefined()
  })
})
