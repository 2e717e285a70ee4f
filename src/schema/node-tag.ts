import * as z from 'zod'
import type { NodeTag } from '../types/node-tag.ts'
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
