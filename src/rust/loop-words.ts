import * as z from 'zod'
import type { JsonValue } from '../contract/json.ts'
import type { StreamDelta } from '../contract/model/request.ts'
import type { ContinuationKind, TurnTrigger } from '../contract/run/run-facts.ts'
import { count, type SpecCodec, specCodec } from './codec.ts'

const triggers = {
  user: 'User',
  subAgent: 'SubAgent',
  continuation: 'Continuation',
  branch: 'Branch',
} as const satisfies Record<TurnTrigger, string>

export const turnTriggerSchema: z.ZodType<TurnTrigger> = z.union(
  [
    z.literal('User').transform(() => 'user' as const),
    z.literal('SubAgent').transform(() => 'subAgent' as const),
    // `FollowUp` is what older files call it.
    z.literal(['Continuation', 'FollowUp']).transform(() => 'continuation' as const),
    z.literal('Branch').transform(() => 'branch' as const),
  ],
  'User|SubAgent|Continuation|Branch',
)

/** `TurnTrigger`: PascalCase; `FollowUp` is read as `continuation`. */
export const turnTriggerCodec: SpecCodec<TurnTrigger> = specCodec('trigger', turnTriggerSchema, (trigger) => triggers[trigger])

const tag = z.object({ tag: z.string() })

export const continuationSchema: z.ZodType<ContinuationKind> = z.union(
  [
    z.literal('Initial').transform(() => ({ kind: 'initial' as const })),
    z.literal('Default').transform(() => ({ kind: 'default' as const })),
    z.literal('Compaction').transform(() => ({ kind: 'compaction' as const })),
    z.object({ Rerun: tag }).transform((spec) => ({ kind: 'rerun' as const, tag: spec.Rerun.tag })),
    z.object({ Branch: tag }).transform((spec) => ({ kind: 'branch' as const, tag: spec.Branch.tag })),
  ],
  'Initial|Default|Compaction|{Rerun}|{Branch}',
)

function encodeContinuation(value: ContinuationKind): JsonValue {
  switch (value.kind) {
    case 'initial':
      return 'Initial'
    case 'default':
      return 'Default'
    case 'compaction':
      return 'Compaction'
    case 'rerun':
      return { Rerun: { tag: value.tag } }
    case 'branch':
      return { Branch: { tag: value.tag } }
  }
}

/** `ContinuationKind`: a PascalCase word, or an object with the word as its only key where there is a tag. */
export const continuationCodec: SpecCodec<ContinuationKind> = specCodec('continuation', continuationSchema, encodeContinuation)

const increment = z.looseObject({ delta: z.string(), contentIndex: count.catch(0) })
const named = z.looseObject({
  delta: z.string(),
  contentIndex: count.catch(0),
  toolCallId: z.string().catch(''),
  toolName: z.string().catch(''),
})

export const deltaSchema: z.ZodType<StreamDelta> = z.union(
  [
    z.object({ Text: increment }).transform(({ Text }) => ({ ...Text, type: 'text' as const })),
    z.object({ Thinking: increment }).transform(({ Thinking }) => ({ ...Thinking, type: 'thinking' as const })),
    z.object({ ToolCallDelta: named }).transform(({ ToolCallDelta }) => ({ ...ToolCallDelta, type: 'toolCallDelta' as const })),
  ],
  '{Text}|{Thinking}|{ToolCallDelta}',
)

function encodeDelta({ type, ...fields }: StreamDelta): JsonValue {
  switch (type) {
    case 'text':
      return { Text: fields }
    case 'thinking':
      return { Thinking: fields }
    case 'toolCallDelta':
      return { ToolCallDelta: fields }
    default: // Not of the crate: the block stands in the message.
      return { Text: { contentIndex: fields.contentIndex, delta: '' } }
  }
}

/**
 * `StreamDelta`: an object with the PascalCase kind as its only key. `contentIndex`, `toolCallId` and `toolName` are keys that Rust ignores;
 * where it did not write them they are read as 0 and ''.
 */
export const streamDeltaCodec: SpecCodec<StreamDelta> = specCodec('delta', deltaSchema, encodeDelta)
