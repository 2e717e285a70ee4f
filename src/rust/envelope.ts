import * as z from 'zod'
import type { JsonObject } from '../contract/json.ts'
import { newId } from '../contract/message/ids.ts'
import type { MessageEnvelope } from '../contract/message/message.ts'
import { count, fitting } from './codec.ts'
import { nodeTagCodec, nodeTagSchema } from './node-tag.ts'
import { provenanceCodec, provenanceSchema } from './provenance.ts'

const turnIdSchema = z.looseObject({ loopId: z.string(), turnIndex: count })
const tagsSchema = z.array(nodeTagSchema).min(1)
const idSchema = z.string().min(1)

/** The envelope as found, unchecked. */
export type RawEnvelope = { [K in keyof MessageEnvelope]: unknown }

/** `entry` with its id, or with a new one: Rust messages have none. */
export function identified<T extends object>(entry: T & { id?: unknown }): T & { id: string } {
  return { ...entry, id: idSchema.safeParse(entry.id).data ?? newId() }
}

/** Reads the extras of a message. Malformed ones are dropped, as Rust does: a conversation is worth more than its annotations. */
export function envelopeFromSpec(raw: RawEnvelope): Partial<MessageEnvelope> {
  return {
    ...fitting('id', idSchema, raw.id),
    ...fitting('turnId', turnIdSchema, raw.turnId),
    ...fitting('provenanceHint', provenanceSchema, raw.provenanceHint),
    ...fitting('nodeId', count, raw.nodeId),
    ...fitting('parentId', count, raw.parentId),
    ...fitting('tags', tagsSchema, raw.tags),
  }
}

/** The extras whose value is spelled differently there. An empty list of tags is left out. */
export function envelopeToSpec(message: Partial<MessageEnvelope>): JsonObject {
  const { provenanceHint, tags } = message
  return {
    ...(provenanceHint === undefined ? {} : { provenanceHint: provenanceCodec.encode(provenanceHint) }),
    ...(tags === undefined || tags.length === 0 ? {} : { tags: tags.map(nodeTagCodec.encode) }),
  }
}
