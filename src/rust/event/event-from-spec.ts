import * as z from 'zod'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { LoopConfigSnapshot, PendingApproval, RunStatus } from '../../contract/run/run-facts.ts'
import { runStatus } from '../../contract/run/run-facts.ts'
import { anyJson, count, fitting, present, readSpec } from '../codec.ts'
import { jsonObject } from '../content.ts'
import { continuationSchema, deltaSchema, turnTriggerSchema } from '../loop-words.ts'
import { llmMessageSchema, messageSchema, toolResultMessageSchema } from '../message.ts'
import { snapshotSchema } from '../snapshot.ts'
import { toolResultSchema } from '../tool-result.ts'
import { usageSchema } from '../usage.ts'
import { contextBodyOf, failureSchema } from './context-event-from-spec.ts'
import type { AnyEventBody, EventBody } from './event-body.ts'

/** What our events carry and Rust's do not; used where the JSON does not say. */
export interface EventDefaults {
  runId: string
  seq: number
  /** Epoch ms, for events without a time. */
  at: number
  sessionId: string
  /** For a start without a configuration, or with a part of one; and for requests, which do not say which service was asked. */
  configSnapshot: LoopConfigSnapshot
}

const text = z.string()
const number = z.number()

/** RFC 3339 to epoch ms. Digits beyond milliseconds are cut off: not every engine parses them. */
const time = z.string().transform((text, ctx) => {
  const at = Date.parse(text.replace(/(\.\d{3})\d+/, '$1'))
  if (!Number.isNaN(at)) return at
  ctx.addIssue({ code: 'custom', message: 'RFC 3339 time' })
  return z.NEVER
})

const typed = z.looseObject({ type: z.string() })
const shared = { type: z.string(), timestamp: time.exactOptional(), session_id: z.string().exactOptional() }
const baseSchema = z.looseObject({ ...shared, loop_id: z.string() })

/** The events around parallel branches name no loop of their own there; here they go by a branch. */
const branchesSchema = z
  .looseObject({
    ...shared,
    loopId: z.string().exactOptional(),
    loop_ids: z.array(z.string()).exactOptional(),
    selected_loop_id: z.string().exactOptional(),
  })
  .transform((spec) => ({ ...spec, loop_id: spec.loopId ?? spec.selected_loop_id ?? spec.loop_ids?.[0] ?? '' }))

const started: z.ZodType<Omit<EventBody<'agentStart'>, 'configSnapshot'> & { configSnapshot: Partial<LoopConfigSnapshot> }> = z
  .looseObject({
    agent_id: z.string(),
    parent_loop_id: z.string().nullish(),
    continuation_kind: continuationSchema,
    config_snapshot: snapshotSchema.nullish(),
    metadata: anyJson.nullish(),
  })
  .transform(({ agent_id, parent_loop_id, continuation_kind, config_snapshot, metadata, parentLoopId: _, ...rest }) => ({
    ...rest,
    type: 'agentStart',
    agentId: agent_id,
    ...present('parentLoopId', parent_loop_id),
    continuationKind: continuation_kind,
    configSnapshot: config_snapshot ?? {},
    ...present('metadata', metadata),
  }))

const statusSchema = z.enum(runStatus.words)
const pendingSchema: z.ZodType<PendingApproval[]> = z.array(
  z.looseObject({ toolCallId: z.string(), toolName: z.string(), arguments: jsonObject, argumentsHash: z.string() }),
)

/** How a run ended, where the JSON does not say: by its last message. */
function statusOf(messages: readonly AgentMessage[], rejection: string | undefined): RunStatus {
  if (rejection !== undefined) return 'rejected'
  const last = messages.findLast((message) => message.role === 'assistant')
  return last?.stopReason === 'error' || last?.stopReason === 'aborted' ? last.stopReason : 'completed'
}

const ended: z.ZodType<EventBody<'agentEnd'>> = z
  .looseObject({ messages: z.array(messageSchema), usage: usageSchema, rejection: z.string().nullish() })
  .transform(({ messages, rejection, status, error, pendingApprovals, ...rest }) => ({
    ...rest,
    type: 'agentEnd',
    messages,
    status: statusSchema.safeParse(status).data ?? statusOf(messages, rejection ?? undefined),
    ...present('rejection', rejection),
    ...fitting('error', failureSchema, error),
    ...fitting('pendingApprovals', pendingSchema, pendingApprovals),
  }))

const turnStarted: z.ZodType<EventBody<'turnStart'>> = z
  .looseObject({ turn_index: count, triggered_by: turnTriggerSchema })
  .transform(({ turn_index, triggered_by, ...rest }) => ({
    ...rest,
    type: 'turnStart',
    turnIndex: turn_index,
    triggeredBy: triggered_by,
  }))

const turnEnded: z.ZodType<EventBody<'turnEnd'>> = z
  .looseObject({ message: llmMessageSchema, usage: usageSchema, tool_results: z.array(toolResultMessageSchema) })
  .transform(({ message, tool_results, turnIndex, ...rest }) => ({
    ...rest,
    type: 'turnEnd',
    message,
    toolResults: tool_results,
    turnIndex: count.safeParse(turnIndex).data ?? message.turnId?.turnIndex ?? 0,
  }))

const whole = z.looseObject({ message: messageSchema }).transform(({ messageId: _, ...rest }) => ({ ...rest, messageId: rest.message.id }))

const messageStarted: z.ZodType<EventBody<'messageStart'>> = whole.transform((body) => ({ ...body, type: 'messageStart' }))

const messageEnded: z.ZodType<EventBody<'messageEnd'>> = whole.transform((body) => ({ ...body, type: 'messageEnd' }))

const messageUpdated: z.ZodType<EventBody<'messageUpdate'>> = z
  .looseObject({ message: messageSchema, delta: deltaSchema })
  .transform(({ message, messageId: _, fromSeq, ...rest }) => ({
    ...rest,
    type: 'messageUpdate',
    messageId: message.id,
    ...fitting('fromSeq', count, fromSeq),
  }))

const call = { tool_call_id: z.string(), tool_name: z.string() }

const toolStarted: z.ZodType<EventBody<'toolExecutionStart'>> = z
  .looseObject({ ...call, args: jsonObject.catch({}) })
  .transform(({ tool_call_id, tool_name, ...rest }) => ({
    ...rest,
    type: 'toolExecutionStart',
    toolCallId: tool_call_id,
    toolName: tool_name,
  }))

const toolUpdated: z.ZodType<EventBody<'toolExecutionUpdate'>> = z
  .looseObject({ ...call, partial_result: toolResultSchema })
  .transform(({ tool_call_id, tool_name, partial_result, ...rest }) => ({
    ...rest,
    type: 'toolExecutionUpdate',
    toolCallId: tool_call_id,
    toolName: tool_name,
    partialResult: partial_result,
  }))

const toolEnded: z.ZodType<EventBody<'toolExecutionEnd'>> = z
  .looseObject({ ...call, result: toolResultSchema, is_error: z.boolean(), child_loop_id: z.string().nullish() })
  .transform(({ tool_call_id, tool_name, is_error, child_loop_id, childLoopId: _, ...rest }) => ({
    ...rest,
    type: 'toolExecutionEnd',
    toolCallId: tool_call_id,
    toolName: tool_name,
    isError: is_error,
    ...present('childLoopId', child_loop_id),
  }))

const progressed: z.ZodType<EventBody<'progressMessage'>> = z
  .looseObject({ ...call, text: z.string() })
  .transform(({ tool_call_id, tool_name, ...rest }) => ({
    ...rest,
    type: 'progressMessage',
    toolCallId: tool_call_id,
    toolName: tool_name,
  }))

const rejected: z.ZodType<EventBody<'inputRejected'>> = z
  .looseObject({ reason: z.string() })
  .transform((body) => ({ ...body, type: 'inputRejected' }))

function bodyOf(type: string, fields: unknown, defaults: EventDefaults): AnyEventBody | undefined {
  const read = <T>(schema: z.ZodType<T>): T => readSpec(schema, fields, 'event')
  switch (type) {
    case 'AgentStart': {
      const { configSnapshot, ...rest } = read(started)
      return { ...rest, configSnapshot: { ...defaults.configSnapshot, ...configSnapshot } }
    }
    case 'AgentEnd':
      return read(ended)
    case 'TurnStart':
      return read(turnStarted)
    case 'TurnEnd':
      return read(turnEnded)
    case 'MessageStart':
      return read(messageStarted)
    case 'MessageUpdate':
      return read(messageUpdated)
    case 'MessageEnd':
      return read(messageEnded)
    case 'ToolExecutionStart':
      return read(toolStarted)
    case 'ToolExecutionUpdate':
      return read(toolUpdated)
    case 'ToolExecutionEnd':
      return read(toolEnded)
    case 'ProgressMessage':
      return read(progressed)
    case 'InputRejected':
      return read(rejected)
    default:
      return contextBodyOf(type, read, defaults.configSnapshot)
  }
}

/**
 * Reads an event of the specification's JSON.
 *
 * **Contract**
 * - What Rust does not write (`runId`, `seq`, `sessionId` of most events, times of some) comes from `defaults`.
 * - `undefined` for an event type this version has no counterpart for.
 * - A `PrunApplied` of Rust names times, not ids: `prunedMessageIds` is then empty. A `RevertApplied` without a target has target -1, which
 *   no node has. The service a `TurnRequest` went to is that of `defaults.configSnapshot`.
 * - Throws `SessionError` `invalidMessages` with the path of what is wrong. Times are cut to milliseconds.
 *
 * Source: docs/coming-from-rust.md
 */
export function eventFromSpec(json: unknown, defaults: EventDefaults): AgentEvent | undefined {
  const isAroundBranches = readSpec(typed, json, 'event').type.startsWith('ParallelLoop')
  const base = readSpec(isAroundBranches ? branchesSchema : baseSchema, json, 'event')
  const { type, loop_id, timestamp, session_id, runId, seq, at, sessionId, loopId: _, ...fields } = base
  const body = bodyOf(type, fields, defaults)
  if (body === undefined) return undefined
  return {
    ...body,
    runId: text.safeParse(runId).data ?? defaults.runId,
    seq: number.safeParse(seq).data ?? defaults.seq,
    at: number.safeParse(at).data ?? timestamp ?? defaults.at,
    sessionId: session_id ?? text.safeParse(sessionId).data ?? defaults.sessionId,
    loopId: loop_id,
  }
}
