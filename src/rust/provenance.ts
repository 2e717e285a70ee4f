import * as z from 'zod'
import type { JsonObject } from '../contract/json.ts'
import type { BlockProvenance, ProvenanceRole } from '../contract/message/provenance.ts'
import { count, renamed, type SpecCodec, specCodec } from './codec.ts'

const role: z.ZodType<ProvenanceRole> = z.union([
  z.literal('user-message').transform(() => 'userMessage' as const),
  z.literal('assistant-response').transform(() => 'assistantResponse' as const),
  z.literal('tool-call-request').transform(() => 'toolCallRequest' as const),
  z.literal('tool-call-result').transform(() => 'toolCallResult' as const),
])

export const provenanceSchema: z.ZodType<BlockProvenance> = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('system-prompt') }).transform((spec) => ({ ...spec, kind: 'systemPrompt' as const })),
  z
    .looseObject({ kind: z.literal('identity-block'), name: z.string(), order: z.int() })
    .transform((spec) => ({ ...spec, kind: 'identityBlock' as const })),
  z
    .looseObject({ kind: z.literal('memory-tier'), tier: z.string(), record_id: z.string() })
    .transform(({ record_id, ...rest }) => ({ ...rest, kind: 'memoryTier' as const, recordId: record_id })),
  z
    .looseObject({ kind: z.literal('loop-turn'), turn_index: count, role, message_index: count })
    .transform(({ turn_index, message_index, ...rest }) => ({
      ...rest,
      kind: 'loopTurn' as const,
      turnIndex: turn_index,
      messageIndex: message_index,
    })),
  z.looseObject({ kind: z.literal('steering') }),
  z.looseObject({ kind: z.literal('follow-up') }).transform((spec) => ({ ...spec, kind: 'followUp' as const })),
  z.looseObject({ kind: z.literal('unknown') }),
])

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function encode(provenance: BlockProvenance): JsonObject {
  const kind = kebab(provenance.kind)
  if (provenance.kind === 'memoryTier') return { ...renamed(provenance, { recordId: 'record_id' }), kind }
  if (provenance.kind !== 'loopTurn') return { ...renamed(provenance, {}), kind }
  const fields = renamed(provenance, { turnIndex: 'turn_index', messageIndex: 'message_index' })
  return { ...fields, kind, role: kebab(provenance.role) }
}

/** `BlockProvenance`: kebab-case kinds and roles, snake_case fields. */
export const provenanceCodec: SpecCodec<BlockProvenance> = specCodec('provenance', provenanceSchema, encode)
