import * as z from 'zod'
import type { RevertCategory } from '../contract/context/context-change.ts'
import type { NodeTag } from '../contract/session/node-tag.ts'
import { count, renamed, type SpecCodec, specCodec } from './codec.ts'

export const nodeTagSchema: z.ZodType<NodeTag> = z
  .looseObject({
    kind: z.enum(['lesson', 'finding', 'outcome', 'checkpoint']),
    text: z.string(),
    created_at_turn: count,
    abandoned_node_ids: z.array(count).default([]),
  })
  .transform(({ created_at_turn, abandoned_node_ids, ...rest }) => ({
    ...rest,
    createdAtTurn: created_at_turn,
    abandonedNodeIds: abandoned_node_ids,
  }))

/** `NodeTag`: snake_case fields, node ids as bare integers. */
export const nodeTagCodec: SpecCodec<NodeTag> = specCodec('tag', nodeTagSchema, (tag) =>
  renamed(tag, { createdAtTurn: 'created_at_turn', abandonedNodeIds: 'abandoned_node_ids' }),
)

const categories = ['failure', 'tangent', 'completion'] as const

export const revertCategorySchema: z.ZodType<RevertCategory> = z.union(
  [z.enum(categories), z.literal('step-summary').transform(() => 'stepSummary' as const)],
  'failure|tangent|completion|step-summary',
)

/** `RevertCategory`: kebab-case, so `step-summary` there. */
export const revertCategoryCodec: SpecCodec<RevertCategory> = specCodec('category', revertCategorySchema, (category) =>
  category === 'stepSummary' ? 'step-summary' : category,
)
