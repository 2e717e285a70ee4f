import type { JsonObject, JsonValue } from '../contract/json.ts'
import { type AgentMessage, type AssistantMessage, agentMessage } from '../contract/message/message.ts'
import { emptyUsage } from '../contract/model/usage.ts'
import { type AgentEvent, agentEvent } from '../contract/run/event.ts'
import type { LoopConfigSnapshot } from '../contract/run/run-facts.ts'
import { invalidMessages } from '../contract/shape/read.ts'
import { aNumber, aText, listOf } from '../contract/shape/shape.ts'
import { styled } from './spelling.ts'
import { objectAt } from './values.ts'
import { readSpec, writeSpec } from './walk.ts'

/** Values for fields of our events that Rust's JSON lacks. */
export interface EventDefaults {
  runId: string
  seq: number
  /** Epoch milliseconds, for events without a time. */
  at: number
  sessionId: string
  /** For starts without a full configuration, and for requests, which do not include the provider. */
  configSnapshot: LoopConfigSnapshot
}

/** The crate's event types. An unknown type makes a whole session file unreadable in the crate, so no other types are written. */
const shared: readonly string[] = [
  'agentStart',
  'agentEnd',
  'turnStart',
  'turnEnd',
  'messageStart',
  'messageUpdate',
  'messageEnd',
  'toolExecutionStart',
  'toolExecutionUpdate',
  'toolExecutionEnd',
  'progressMessage',
  'inputRejected',
  'turnRequest',
  'compactionStarted',
  'compactionEnded',
  'prunApplied',
  'revertApplied',
  'parallelLoopStart',
  'parallelLoopEnd',
] satisfies AgentEvent['type'][]
const knownThere: ReadonlySet<unknown> = new Set(shared.map((type) => styled(type, 'PascalCase')))

type FindMessage = (id: string) => AgentMessage | undefined

/**
 * Converts an event to the specification's JSON.
 *
 * **Contract**
 * - Returns `undefined` for events that the specification lacks: `providerRetry`, `approvalRequested`, `approvalResolved`,
 *   `inputRequested`, `inputResolved`, `clientCallRequested`, `clientCallResolved`, `backgroundStart`, `backgroundEnd`, `childEvent`. One
 *   unknown type makes a whole session file unreadable in the crate. The loop of a child is written separately.
 * - Fields that only we have, such as `runId`, `seq`, `at`, `sessionId`, `messageId`, `status`, `error` and `pendingApprovals`, are keys
 *   that Rust ignores.
 * - A `MessageUpdate` needs the whole message, a `PrunApplied` the times of the messages. `message` looks them up (`run.message`, or the
 *   history). Without it an empty message, or no times, are written.
 *
 * Source: docs/migrate/rust.md
 */
export function eventToSpec(event: AgentEvent, message?: FindMessage): JsonObject | undefined {
  if (!shared.includes(event.type)) return undefined
  const spec = objectAt(writeSpec(agentEvent, event), 'event')
  if (event.type === 'messageUpdate') {
    const shown = message?.(event.messageId) ?? { ...placeholder(event.at), id: event.messageId }
    return { ...spec, message: writeSpec(agentMessage, shown) }
  }
  if (event.type !== 'prunApplied') return spec
  // Without a lookup, writes the times that came from Rust.
  const times = event.prunedMessageIds.flatMap((id) => timesOf(message?.(id)))
  return { pruned_timestamps: [], ...spec, ...(times.length > 0 && { pruned_timestamps: times }) }
}

/** Message of an update, if unknown. The Rust crate also writes an empty message. */
function placeholder(at: number): AssistantMessage {
  return { role: 'assistant', content: [], stopReason: 'stop', model: '', provider: '', usage: emptyUsage(), timestamp: at }
}

function timesOf(message: AgentMessage | undefined): number[] {
  return message === undefined || message.role === 'extension' ? [] : [message.timestamp]
}

/**
 * Parses an event of the specification's JSON.
 *
 * **Contract**
 * - Fields that Rust does not write (`runId`, `seq`, `sessionId` of most events, times of some) come from `defaults`.
 * - Returns `undefined` for an event type without a counterpart in this version.
 * - Rust's `PrunApplied` has times, not ids: `prunedMessageIds` is then empty. A `RevertApplied` without a target has target -1, which no
 *   node has. The provider of a `TurnRequest` is that of `defaults.configSnapshot`.
 * - Throws `SessionError` `invalidMessages` with the error's path. Times are truncated to milliseconds.
 *
 * Source: docs/migrate/rust.md
 */
export function eventFromSpec(json: unknown, defaults: EventDefaults): AgentEvent | undefined {
  const spec = objectAt(json, 'event')
  const type = readSpec(aText, spec.type, 'event.type')
  const base = baseOf(spec, type, defaults)
  if (!knownThere.has(type)) return undefined
  const { timestamp: _, session_id: __, ...fields } = spec
  const event = readSpec(agentEvent, withoutWhole(fields, type), 'event')
  return { ...bodyOf(event, spec, defaults.configSnapshot), ...base }
}

/** Returns the fields common to all events. Events around parallel branches name no loop in Rust. Here they use a branch's loop. */
function baseOf(spec: JsonObject, type: string, defaults: EventDefaults): Omit<EventDefaults, 'configSnapshot'> & { loopId: string } {
  const { runId, seq, at, sessionId, loopId, loop_id, loop_ids, selected_loop_id, session_id } = spec
  const time = spec.timestamp === undefined ? undefined : timeOf(spec.timestamp)
  const [first] = Array.isArray(loop_ids) ? loop_ids : []
  const branch = [loopId, selected_loop_id, textOr(first, '')].find((id) => id !== undefined)
  return {
    loopId: readSpec(aText, type.startsWith('ParallelLoop') ? branch : loop_id, 'event.loop_id'),
    runId: textOr(runId, defaults.runId),
    seq: numberOr(seq, defaults.seq),
    at: numberOr(at, time ?? defaults.at),
    sessionId: session_id === undefined ? textOr(sessionId, defaults.sessionId) : readSpec(aText, session_id, 'event.session_id'),
  }
}

/** Converts RFC 3339 to epoch milliseconds. Truncates further digits, which not every engine parses. */
function timeOf(json: JsonValue): number {
  const at = Date.parse(readSpec(aText, json, 'event.timestamp').replace(/(\.\d{3})\d+/, '$1'))
  if (Number.isNaN(at)) throw invalidMessages('event.timestamp', 'RFC 3339 time', json)
  return at
}

function textOr(json: unknown, other: string): string {
  return typeof json === 'string' ? json : other
}

function numberOr(json: unknown, other: number): number {
  return typeof json === 'number' ? json : other
}

/** Drops an update's message: Rust writes the whole message, but our event contains only the delta. */
function withoutWhole({ message, ...fields }: JsonObject, type: string): JsonObject {
  return type === 'MessageUpdate' || message === undefined ? fields : { message, ...fields }
}

/** Converts fields that depend on other fields, which a table cannot express. */
function bodyOf(event: AgentEvent, spec: JsonObject, snapshot: LoopConfigSnapshot): AgentEvent {
  switch (event.type) {
    case 'agentStart':
      return { ...event, configSnapshot: { ...snapshot, ...event.configSnapshot } }
    case 'messageUpdate':
      return { ...event, messageId: readSpec(agentMessage, spec.message, 'event.message').id }
    case 'turnRequest': {
      const request: Partial<typeof event.request> = event.request
      return { ...event, request: { ...event.request, provider: request.provider ?? snapshot.provider, api: request.api ?? snapshot.api } }
    }
    case 'prunApplied': {
      // Rust identifies pruned messages by time, but times are not unique here. Store the times for writing, with an empty list of ids.
      const pruned_timestamps = readSpec(listOf(aNumber), spec.pruned_timestamps ?? [], 'event.pruned_timestamps')
      const { pruned_timestamps: _, ...rest }: typeof event & { pruned_timestamps?: unknown } = event
      const given: readonly string[] | undefined = event.prunedMessageIds
      return given === undefined ? { ...rest, ...{ pruned_timestamps }, prunedMessageIds: [] } : rest
    }
    default:
      return event
  }
}
