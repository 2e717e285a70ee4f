import * as z from 'zod'
import { type RevertCategory, revertCategory } from '../contract/context/context-change.ts'
import { type NodeTag, tagKind } from '../contract/session/node-tag.ts'
import { count, renamed, type SpecCodec, specCodec } from './codec.ts'

export const nodeTagSchema: z.ZodType<NodeTag> = z
  .looseObject({
    kind: z.enum(tagKind.words),
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

const kebab = (category: RevertCategory): string => (category === 'stepSummary' ? 'step-summary' : category)
const spelled = revertCategory.words.map(kebab)

export const revertCategorySchema: z.ZodType<RevertCategory> = z
  .enum(spelled)
  .transform((word) => revertCategory.words[spelled.indexOf(word)] ?? 'failure')

/** `RevertCategory`: kebab-case, so `step-summary` there. */
export const revertCategoryCodec: SpecCodec<RevertCategory> = specCodec('category', revertCategorySchema, kebab)
