import { aNumber, aText, type FieldsOf, type Infer, listOf, object, oneOf, type ShapeOf, tagged } from '../shape/shape.ts'

/** Bytes as hexadecimal digits, two of each. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The hexadecimal digits of this many random bytes. For what needs no UUID: `crypto.randomUUID` is missing on pages that were not loaded over https. */
export function randomHex(byteCount: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(byteCount)))
}

/** A new random identifier (UUID v4). Works in insecure browser contexts too, where `crypto.randomUUID` is missing. */
export function newId(): string {
  // In one piece: Node joins it of some twenty, and each id that is kept would keep them, 400 bytes and not 60.
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID().toLowerCase()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Whether a value is an id, or a name, that may be stored with every message: some text, and not too long for a key. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 512
}

/** The part a message of a turn plays, in words. */
export const provenanceRole = oneOf('userMessage', 'assistantResponse', 'toolCallRequest', 'toolCallResult')
/** The part a message of a turn plays. Source: docs/reference/tracing.md */
export type ProvenanceRole = Infer<typeof provenanceRole>

/** A kind of another version passes: nothing but a capture shows it. */
export const blockProvenance = tagged(
  'kind',
  {
    systemPrompt: {},
    identityBlock: { name: aText, order: aNumber },
    memoryTier: { tier: aText, recordId: aText },
    loopTurn: { turnIndex: aNumber, role: provenanceRole, messageIndex: aNumber },
    steering: {},
    followUp: {},
    background: { backgroundId: aText, toolName: aText },
    /** The SDK wrote it, in the place of what is not sent. */
    runtime: {},
    unknown: {},
  },
  'all',
)

/** Where a block of a request came from. Source: docs/reference/tracing.md */
export type BlockProvenance = Infer<typeof blockProvenance>

/** What a revert learnt from the span it abandoned, in words. */
export const tagKind = oneOf('lesson', 'finding', 'outcome', 'checkpoint')
/** What a revert learnt from the span it abandoned. Source: docs/concepts/context.md */
export type TagKind = Infer<typeof tagKind>

const nodeTagFields = { kind: tagKind, text: aText, createdAtTurn: aNumber, abandonedNodeIds: listOf(aNumber) }

/** A note attached to a message by a revert; plain data that storage must carry unchanged. */
export interface NodeTag extends FieldsOf<typeof nodeTagFields> {}
export const nodeTag: ShapeOf<NodeTag> = object<NodeTag>(nodeTagFields)

/** A node id as the model reads and writes it: `n12`. */
export function formatNodeId(id: number): string {
  return `n${id}`
}

/** The node id in what a model wrote: `n12`, `12`, also `[n12]` as it is shown, with or without its marks. `undefined` for anything else. */
export function parseNodeId(written: string): number | undefined {
  const inner = /^\s*<<\w{8} (.{1,20}) \w{8}>>\s*$/.exec(written)?.[1] ?? written
  const digits = /^\s*(?:n?(\d{1,15})|\[n(\d{1,15})\])\s*$/i.exec(inner)
  return digits === null ? undefined : Number(digits[1] ?? digits[2])
}
