import type { JsonObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { llmMessageInput } from '../../contract/message/message.ts'
import { knownApi } from '../../contract/model/model-config.ts'
import { type AnnotatedRequest, annotatedRequest, cacheStrategy, streamDelta } from '../../contract/model/request.ts'
import { responseFormat } from '../../contract/model/request-settings.ts'
import { type AgentEndEvent, type AgentEvent, agentEvent } from '../../contract/run/event.ts'
import { continuationKind, type LoopConfigSnapshot, type RunStatus, turnTrigger } from '../../contract/run/run-facts.ts'
import { limitFields, toolExecution } from '../../contract/run/settings.ts'
import { loopRecordFields } from '../../contract/session/session.ts'
import { fieldsOf, listOf } from '../../contract/shape/shape.ts'
import { type Entry, spelled, spelledTagged, spelledWords, type ValueSpelling } from '../spelling.ts'
import { count, decimal, duration, estimate, limit } from '../values.ts'

const extra = { extra: 'spelled' } as const
const ours = { extra: 'native' } as const
const orNull = { absent: null } as const
const fromZero = { ...extra, missing: () => 0 } as const

/** The configuration of a loop, as far as it is known. */
/**
 * Rust's words for unknown kinds, which would make the file unreadable there. In a message, where Rust ignores the key, the kind stays.
 */
const knownThere: Readonly<Record<string, string>> = { background: 'follow-up', runtime: 'unknown' }

function withKnownProvenance(json: JsonObject, { provenance }: AnnotatedRequest): JsonObject {
  if (!provenance.some(({ kind }) => kind in knownThere) || !Array.isArray(json.provenance)) return json
  const known = json.provenance.map((spec, at) => {
    const kind = knownThere[provenance[at]?.kind ?? '']
    return kind === undefined ? spec : { kind }
  })
  return { ...json, provenance: known }
}

export const configSnapshot = loopRecordFields.config
/** Execution limits. */
export const executionLimits = fieldsOf(limitFields)

/** Returns whether Rust knows a protocol. It refuses a file with any other. */
function isWire(api: string): boolean {
  return knownApi.words.some((word) => word === api)
}

/** Reads any other protocol (`scripted`, or a custom one) from `nativeApi`. */
function apiRead(snapshot: Partial<LoopConfigSnapshot>, { nativeApi }: JsonObject): Partial<LoopConfigSnapshot> {
  const { nativeApi: _, ...rest }: Partial<LoopConfigSnapshot> & { nativeApi?: unknown } = snapshot
  return typeof nativeApi === 'string' ? { ...rest, api: nativeApi } : rest
}

function apiWritten(json: JsonObject, { api }: Partial<LoopConfigSnapshot>): JsonObject {
  const { api: _, ...rest } = json
  return api === undefined || isWire(api) ? json : { ...rest, nativeApi: api }
}

/** Derives the status of a run from its last message if the JSON lacks it. */
function statusOf({ messages, rejection }: AgentEndEvent): RunStatus {
  if (rejection !== undefined) return 'rejected'
  const last = messages.findLast((message) => message.role === 'assistant')
  return last?.stopReason === 'error' || last?.stopReason === 'aborted' ? last.stopReason : 'completed'
}

/** Target of a request without one. No node has this id. */
const noTarget = -1
const target: ValueSpelling<number> = {
  read: (json, path) => (json === null ? noTarget : count.read(json, path)),
  write: (id) => (id === noTarget ? null : id),
}

/** Adds the time that most events have in Rust: RFC 3339, UTC. */
function stamped(json: JsonObject, { at }: AgentEvent): JsonObject {
  return { ...json, timestamp: new Date(at).toISOString() }
}
const timed = { write: stamped } as const
const branches = { sessionId: { ...extra, name: 'session_id' }, loopId: extra } as const
const wholeMessage = {
  fields: { messageId: extra },
  read: <E extends { message: AgentMessage }>(event: E): E => ({ ...event, messageId: event.message.id }),
} as const

const eventSpellings = spelledTagged(agentEvent, 'type', {
  words: 'PascalCase',
  names: 'snake_case',
  fields: { runId: extra, seq: extra, at: extra, sessionId: extra, loopId: { ...extra, name: 'loop_id' } },
  variants: {
    agentStart: {
      ...timed,
      fields: {
        sessionId: branches.sessionId,
        agentName: ours,
        parentLoopId: orNull,
        configSnapshot: { as: configSnapshot, isOption: true },
        metadata: orNull,
        clientTools: ours,
      },
    },
    agentEnd: {
      ...timed,
      fields: {
        status: extra,
        totalUsage: ours,
        costUsd: ours,
        error: extra,
        limit: ours,
        rejection: orNull,
        pendingApprovals: extra,
        pendingClientCalls: ours,
        returned: ours,
      },
      read: (event) => ({ ...event, status: event.status ?? statusOf(event) }),
    },
    turnStart: timed,
    turnEnd: {
      ...timed,
      fields: { turnIndex: extra },
      read: (event) => ({ ...event, turnIndex: event.turnIndex ?? event.message.turnId?.turnIndex ?? 0 }),
    },
    messageStart: wholeMessage,
    messageUpdate: { fields: { messageId: extra, fromSeq: extra } },
    messageEnd: wholeMessage,
    toolExecutionStart: { fields: { args: { ...extra, missing: () => ({}) } } },
    toolExecutionEnd: { fields: { childLoopId: orNull } },
    turnRequest: { ...timed, fields: { request: { name: 'payload' }, afterOverflow: extra } },
    compactionStarted: { ...timed, fields: { estimatedTokens: { as: estimate } } },
    compactionEnded: {
      ...timed,
      fields: { estimatedTokensBefore: { as: estimate }, estimatedTokensAfter: { as: estimate }, usage: ours, error: extra },
    },
    prunApplied: {
      ...timed,
      fields: { tokensRemoved: { as: estimate }, prunedMessageIds: extra, memo: orNull },
    },
    revertApplied: { ...timed, fields: { target: { as: target, missing: () => noTarget }, summary: orNull, reason: orNull } },
    parallelLoopStart: { ...timed, fields: branches },
    parallelLoopEnd: { ...timed, fields: branches },
  },
})

export const runSpellings: readonly Entry[] = [
  spelledWords(turnTrigger, { words: 'PascalCase', also: { FollowUp: 'continuation' } }),
  ...spelledTagged(continuationKind, 'kind', { words: 'PascalCase', isOutside: true }),
  ...spelledTagged(streamDelta, 'type', {
    words: 'PascalCase',
    isOutside: true,
    ours: ['citation', 'block'],
    // The message has the block.
    instead: ({ contentIndex }) => ({ Text: { contentIndex, delta: '' } }),
    variants: {
      text: { fields: { contentIndex: fromZero } },
      thinking: { fields: { contentIndex: fromZero } },
      toolCallDelta: {
        fields: {
          contentIndex: fromZero,
          toolCallId: { ...extra, missing: () => '' },
          toolName: { ...extra, missing: () => '' },
        },
      },
    },
  }),
  spelledWords(knownApi, { words: 'snake_case' }),
  spelled(configSnapshot, {
    names: 'snake_case',
    fields: { configId: orNull, api: { as: knownApi }, temperature: { as: decimal } },
    read: apiRead,
    write: apiWritten,
  }),
  spelled(annotatedRequest, {
    names: 'snake_case',
    fields: {
      messages: { as: listOf(llmMessageInput) },
      provider: extra,
      api: extra,
      maxTokens: orNull,
      temperature: { as: decimal, absent: null },
      responseFormat: { absent: { kind: 'text' } },
      http: extra,
    },
    write: withKnownProvenance,
  }),
  ...spelledTagged(responseFormat, 'type', {
    tag: 'kind',
    words: 'kebab-case',
    variants: { jsonSchema: { fields: { strict: { missing: () => false, absent: false } } } },
  }),
  spelled(executionLimits, {
    names: 'snake_case',
    fields: {
      maxTurns: { as: limit },
      maxTotalTokens: { as: limit },
      maxDurationMs: { as: duration, name: 'max_duration' },
      maxCost: { as: decimal, absent: null },
      maxSameRefusals: ours,
    },
  }),
  ...spelledTagged(toolExecution, 'type', { variants: { batched: { fields: { size: { as: count } } } } }),
  ...spelledTagged(cacheStrategy, 'type', { words: 'snake_case', names: 'snake_case', isOutside: true }),
  ...eventSpellings,
]
