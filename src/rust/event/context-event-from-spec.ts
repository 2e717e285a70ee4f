import * as z from 'zod'
import type { LoopConfigSnapshot, RunFailure } from '../../contract/run/run-facts.ts'
import { count, fitting, present } from '../codec.ts'
import { revertCategorySchema } from '../node-tag.ts'
import { requestSchema, type SpecRequest } from '../request.ts'
import { usageSchema } from '../usage.ts'
import type { AnyEventBody, EventBody } from './event-body.ts'

export const failureSchema: z.ZodType<RunFailure> = z.looseObject({ code: z.string(), message: z.string() })

const turnRequested: z.ZodType<Omit<EventBody<'turnRequest'>, 'request'> & { request: SpecRequest }> = z
  .looseObject({ turn_index: count, payload: requestSchema })
  .transform(({ turn_index, payload, afterOverflow, ...rest }) => ({
    ...rest,
    type: 'turnRequest',
    turnIndex: turn_index,
    request: payload,
    ...fitting('afterOverflow', z.literal(true), afterOverflow),
  }))

const compactionStarted: z.ZodType<EventBody<'compactionStarted'>> = z
  .looseObject({ estimated_tokens: count, message_count: count })
  .transform(({ estimated_tokens, message_count, ...rest }) => ({
    ...rest,
    type: 'compactionStarted',
    estimatedTokens: estimated_tokens,
    messageCount: message_count,
  }))

const compactionEnded: z.ZodType<EventBody<'compactionEnded'>> = z
  .looseObject({
    messages_before: count,
    messages_after: count,
    estimated_tokens_before: count,
    estimated_tokens_after: count,
    loops_compacted: count,
  })
  .transform(({ messages_before, messages_after, estimated_tokens_before, estimated_tokens_after, loops_compacted, error, ...rest }) => ({
    ...rest,
    type: 'compactionEnded',
    messagesBefore: messages_before,
    messagesAfter: messages_after,
    estimatedTokensBefore: estimated_tokens_before,
    estimatedTokensAfter: estimated_tokens_after,
    loopsCompacted: loops_compacted,
    ...fitting('error', failureSchema, error),
  }))

const ids = z.array(z.string())

/** Rust names pruned messages by their times, which name nothing here: they are kept for writing, next to an empty list of ids. */
const pruned: z.ZodType<EventBody<'prunApplied'>> = z
  .looseObject({
    tokens_removed: count,
    messages_removed: count,
    memo: z.string().nullish(),
    pruned_timestamps: z.array(count).default([]),
  })
  .transform(({ tokens_removed, messages_removed, memo, pruned_timestamps, prunedMessageIds, ...rest }) => {
    const known = ids.safeParse(prunedMessageIds).data
    return {
      ...rest,
      ...(known === undefined && { pruned_timestamps }),
      type: 'prunApplied',
      tokensRemoved: tokens_removed,
      messagesRemoved: messages_removed,
      prunedMessageIds: known ?? [],
      ...present('memo', memo),
    }
  })

/** The target of a request that named none; no node has this id. */
export const noTarget = -1

const reverted: z.ZodType<EventBody<'revertApplied'>> = z
  .looseObject({
    category: revertCategorySchema,
    target: count.nullish(),
    abandoned_node_ids: z.array(count),
    summary: z.string().nullish(),
    applied: z.boolean(),
    reason: z.string().nullish(),
  })
  .transform(({ target, abandoned_node_ids, summary, reason, ...rest }) => ({
    ...rest,
    type: 'revertApplied',
    target: target ?? noTarget,
    abandonedNodeIds: abandoned_node_ids,
    ...present('summary', summary),
    ...present('reason', reason),
  }))

const parallelStarted: z.ZodType<EventBody<'parallelLoopStart'>> = z
  .looseObject({ loop_ids: ids })
  .transform(({ loop_ids, ...rest }) => ({ ...rest, type: 'parallelLoopStart', loopIds: loop_ids }))

const parallelEnded: z.ZodType<EventBody<'parallelLoopEnd'>> = z
  .looseObject({ selected_loop_id: z.string(), selected_config_index: count, evaluation_usage: usageSchema, reason: z.string().nullish() })
  .transform(({ selected_loop_id, selected_config_index, evaluation_usage, reason, ...rest }) => ({
    ...rest,
    type: 'parallelLoopEnd',
    selectedLoopId: selected_loop_id,
    selectedConfigIndex: selected_config_index,
    evaluationUsage: evaluation_usage,
    ...present('reason', reason),
  }))

/** Reads the events about requests, context and branches; `undefined` for others. `snapshot` says which service was asked. */
export function contextBodyOf(type: string, read: <T>(schema: z.ZodType<T>) => T, snapshot: LoopConfigSnapshot): AnyEventBody | undefined {
  switch (type) {
    case 'TurnRequest': {
      const { request, ...rest } = read(turnRequested)
      return { ...rest, request: { provider: snapshot.provider, api: snapshot.api, ...request } }
    }
    case 'CompactionStarted':
      return read(compactionStarted)
    case 'CompactionEnded':
      return read(compactionEnded)
    case 'PrunApplied':
      return read(pruned)
    case 'RevertApplied':
      return read(reverted)
    case 'ParallelLoopStart':
      return read(parallelStarted)
    case 'ParallelLoopEnd':
      return read(parallelEnded)
    default:
      return undefined
  }
}
