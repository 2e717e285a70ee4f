import type { JsonObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { renamed } from '../codec.ts'
import { revertCategoryCodec } from '../node-tag.ts'
import { annotatedRequestCodec } from '../request.ts'
import { usageCodec } from '../usage.ts'
import { noTarget } from './context-event-from-spec.ts'
import { type EventOf, specTime } from './event-body.ts'

/** The events about requests, context and branches. */
export type ContextEvent = EventOf<
  'turnRequest' | 'compactionStarted' | 'compactionEnded' | 'prunApplied' | 'revertApplied' | 'parallelLoopStart' | 'parallelLoopEnd'
>

const loopId = { loopId: 'loop_id' } as const

/** Rust takes whole numbers only; a counter of the application may give others. */
function whole(estimate: number): number {
  return Math.max(0, Math.ceil(estimate))
}

export function contextEventToSpec(event: ContextEvent, message?: (id: string) => AgentMessage | undefined): JsonObject {
  switch (event.type) {
    case 'turnRequest': {
      const { request, ...rest } = event
      const fields = { ...renamed(rest, { ...loopId, turnIndex: 'turn_index' }), ...specTime(event) }
      return { ...fields, type: 'TurnRequest', payload: annotatedRequestCodec.encode(request) }
    }
    case 'compactionStarted': {
      const fields = renamed(event, { ...loopId, estimatedTokens: 'estimated_tokens', messageCount: 'message_count' })
      return { ...fields, ...specTime(event), type: 'CompactionStarted', estimated_tokens: whole(event.estimatedTokens) }
    }
    case 'compactionEnded':
      return compactionEnded(event)
    case 'prunApplied':
      return pruned(event, message)
    case 'revertApplied':
      return reverted(event)
    case 'parallelLoopStart': {
      const fields = renamed(event, { sessionId: 'session_id', loopIds: 'loop_ids' })
      return { ...fields, ...specTime(event), type: 'ParallelLoopStart' }
    }
    case 'parallelLoopEnd': {
      const names = { sessionId: 'session_id', selectedLoopId: 'selected_loop_id', selectedConfigIndex: 'selected_config_index' } as const
      const fields = { ...renamed(event, { ...names, evaluationUsage: 'evaluation_usage' }), ...specTime(event) }
      return { ...fields, type: 'ParallelLoopEnd', evaluation_usage: usageCodec.encode(event.evaluationUsage) }
    }
  }
}

function compactionEnded(event: EventOf<'compactionEnded'>): JsonObject {
  const { estimatedTokensBefore, estimatedTokensAfter, ...rest } = event
  const names = { messagesBefore: 'messages_before', messagesAfter: 'messages_after', loopsCompacted: 'loops_compacted' } as const
  return {
    ...renamed(rest, { ...loopId, ...names }),
    ...specTime(event),
    type: 'CompactionEnded',
    estimated_tokens_before: whole(estimatedTokensBefore),
    estimated_tokens_after: whole(estimatedTokensAfter),
  }
}

/** The times are looked up; without anybody who knows them, those that came from Rust are written again. */
function pruned(event: EventOf<'prunApplied'>, message: ((id: string) => AgentMessage | undefined) | undefined): JsonObject {
  const fields = renamed(event, { ...loopId, tokensRemoved: 'tokens_removed', messagesRemoved: 'messages_removed' })
  const found = event.prunedMessageIds.flatMap((id) => {
    const entry = message?.(id)
    return entry === undefined || entry.role === 'extension' ? [] : [entry.timestamp]
  })
  return {
    pruned_timestamps: [],
    ...fields,
    ...(found.length > 0 && { pruned_timestamps: found }),
    ...specTime(event),
    type: 'PrunApplied',
    tokens_removed: whole(event.tokensRemoved),
    memo: event.memo ?? null,
  }
}

function reverted(event: EventOf<'revertApplied'>): JsonObject {
  return {
    ...renamed(event, { ...loopId, abandonedNodeIds: 'abandoned_node_ids' }),
    ...specTime(event),
    type: 'RevertApplied',
    category: revertCategoryCodec.encode(event.category),
    target: event.target === noTarget ? null : event.target,
    summary: event.summary ?? null,
    reason: event.reason ?? null,
  }
}
