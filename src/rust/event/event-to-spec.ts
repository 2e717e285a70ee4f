import type { JsonObject } from '../../contract/json.ts'
import type { AgentMessage, AssistantMessage } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { renamed } from '../codec.ts'
import { continuationCodec, streamDeltaCodec, turnTriggerCodec } from '../loop-words.ts'
import { messageCodec } from '../message.ts'
import { configSnapshotCodec } from '../snapshot.ts'
import { toolResultCodec } from '../tool-result.ts'
import { usageCodec } from '../usage.ts'
import { contextEventToSpec } from './context-event-to-spec.ts'
import { specTime } from './event-body.ts'

/** What an update shows when nobody knows the message: the Rust crate itself writes an empty one. */
function placeholder(at: number): AssistantMessage {
  return { role: 'assistant', content: [], stopReason: 'stop', model: '', provider: '', usage: emptyUsage(), timestamp: at }
}

/** The keys both spellings of a tool event have. */
const toolNames = { loopId: 'loop_id', toolCallId: 'tool_call_id', toolName: 'tool_name' } as const

/**
 * An event in the specification's JSON.
 *
 * **Contract**
 * - `undefined` for events the specification does not have (`providerRetry`, `approvalRequested`, `approvalResolved`, `inputRequested`, `inputResolved`, `childEvent`): one
 *   unknown type makes a whole session file unreadable there. The loop of a child is written by itself.
 * - `runId`, `seq`, `at`, `sessionId`, `messageId`, `turnIndex` of a turn's end, the `status`, `error` and `pendingApprovals` of a run
 *   and what else only we know travel as keys that Rust ignores.
 * - A `MessageUpdate` needs the whole message there, a `PrunApplied` the times of the messages; `message` looks them up (`run.message`, or
 *   the history). Without it an empty message, or no times, are written.
 *
 * Source: docs/coming-from-rust.md
 */
export function eventToSpec(event: AgentEvent, message?: (id: string) => AgentMessage | undefined): JsonObject | undefined {
  switch (event.type) {
    case 'agentStart':
    case 'agentEnd':
    case 'turnStart':
    case 'turnEnd':
      return loopEvent(event)
    case 'messageStart':
    case 'messageEnd': {
      const type = event.type === 'messageStart' ? 'MessageStart' : 'MessageEnd'
      return { ...renamed(event, { loopId: 'loop_id' }), type, message: messageCodec.encode(event.message) }
    }
    case 'messageUpdate': {
      const found = message?.(event.messageId)
      const shown = found ?? { ...placeholder(event.at), id: event.messageId }
      const fields = { ...renamed(event, { loopId: 'loop_id' }), delta: streamDeltaCodec.encode(event.delta) }
      return { ...fields, type: 'MessageUpdate', message: messageCodec.encode(shown) }
    }
    case 'inputRejected':
      return { ...renamed(event, { loopId: 'loop_id' }), type: 'InputRejected' }
    case 'toolExecutionStart':
      return { ...renamed(event, toolNames), type: 'ToolExecutionStart' }
    case 'progressMessage':
      return { ...renamed(event, toolNames), type: 'ProgressMessage' }
    case 'toolExecutionUpdate': {
      const fields = renamed(event, { ...toolNames, partialResult: 'partial_result' })
      return { ...fields, type: 'ToolExecutionUpdate', partial_result: toolResultCodec.encode(event.partialResult) }
    }
    case 'toolExecutionEnd': {
      const fields = renamed(event, { ...toolNames, isError: 'is_error', childLoopId: 'child_loop_id' })
      const result = toolResultCodec.encode(event.result)
      return { ...fields, type: 'ToolExecutionEnd', result, child_loop_id: event.childLoopId ?? null }
    }
    case 'approvalRequested':
    case 'approvalResolved':
    case 'inputRequested':
    case 'inputResolved':
    case 'providerRetry':
    case 'childEvent':
      return undefined
    default:
      return contextEventToSpec(event, message)
  }
}

type LoopEvent = Extract<AgentEvent, { type: 'agentStart' | 'agentEnd' | 'turnStart' | 'turnEnd' }>

function loopEvent(event: LoopEvent): JsonObject {
  switch (event.type) {
    case 'agentStart': {
      const { configSnapshot, continuationKind, sessionId, ...rest } = event
      return {
        ...renamed(rest, { loopId: 'loop_id', agentId: 'agent_id', parentLoopId: 'parent_loop_id' }),
        ...specTime(event),
        type: 'AgentStart',
        session_id: sessionId,
        parent_loop_id: event.parentLoopId ?? null,
        continuation_kind: continuationCodec.encode(continuationKind),
        metadata: event.metadata ?? null,
        config_snapshot: configSnapshotCodec.encode(configSnapshot),
      }
    }
    case 'agentEnd':
      return {
        ...renamed(event, { loopId: 'loop_id' }),
        ...specTime(event),
        type: 'AgentEnd',
        messages: event.messages.map(messageCodec.encode),
        usage: usageCodec.encode(event.usage),
        rejection: event.rejection ?? null,
      }
    case 'turnStart': {
      const { triggeredBy, ...rest } = event
      const fields = { ...renamed(rest, { loopId: 'loop_id', turnIndex: 'turn_index' }), ...specTime(event) }
      return { ...fields, type: 'TurnStart', triggered_by: turnTriggerCodec.encode(triggeredBy) }
    }
    case 'turnEnd': {
      const { toolResults, ...rest } = event
      return {
        ...renamed(rest, { loopId: 'loop_id' }),
        ...specTime(event),
        type: 'TurnEnd',
        message: messageCodec.encode(event.message),
        usage: usageCodec.encode(event.usage),
        tool_results: toolResults.map(messageCodec.encode),
      }
    }
  }
}
