import { aNumber, aText, type FieldsOf, type Infer, listOf, object, oneOf, type ShapeOf, tagged } from '../shape/shape.ts'

/** Encodes bytes as hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns random bytes as hexadecimal digits. Also works in insecure browser contexts, without `crypto.randomUUID`. */
export function randomHex(byteCount: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(byteCount)))
}

/** Returns a new UUID v4. Also works in insecure browser contexts, without `crypto.randomUUID`. */
export function newId(): string {
  // `toLowerCase` flattens the string. Node concatenates it from about 20 parts, which would take 400 bytes per id instead of 60.
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID().toLowerCase()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Returns whether a value is a valid id or name: a non-empty string that is short enough for a key. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 512
}

/** Role of a message in its turn. */
export const provenanceRole = oneOf('userMessage', 'assistantResponse', 'toolCallRequest', 'toolCallResult')
/** Role of a message in its turn. Source: docs/reference/tracing.md */
export type ProvenanceRole = Infer<typeof provenanceRole>

/** Accepts unknown kinds from newer versions, because only captures display them. */
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
    /** Text that the SDK sends in place of omitted content. */
    runtime: {},
    unknown: {},
  },
  'all',
)

/** Origin of a block in a request. Source: docs/reference/tracing.md */
export type BlockProvenance = Infer<typeof blockProvenance>

/** Kind of a revert note. */
export const tagKind = oneOf('lesson', 'finding', 'outcome', 'checkpoint')
/** Kind of a revert note. Source: docs/concepts/context.md */
export type TagKind = Infer<typeof tagKind>

const nodeTagFields = { kind: tagKind, text: aText, createdAtTurn: aNumber, abandonedNodeIds: listOf(aNumber) }

/** Note that a revert attaches to a message. Plain data that stores preserve unchanged. */
export interface NodeTag extends FieldsOf<typeof nodeTagFields> {}
export const nodeTag: ShapeOf<NodeTag> = object<NodeTag>(nodeTagFields)

/** Formats a node id for the model: `n12`. */
export function formatNodeId(id: number): string {
  return `n${id}`
}

/** Parses a node id from model output: `n12`, `12` or `[n12]`. Ignores surrounding marks. Returns `undefined` for any other text. */
export function parseNodeId(written: string): number | undefined {
  const inner = /^\s*<<\w{8} (.{1,20}) \w{8}>>\s*$/.exec(written)?.[1] ?? written
  const digits = /^\s*(?:n?(\d{1,15})|\[n(\d{1,15})\])\s*$/i.exec(inner)
  return digits === null ? undefined : Number(digits[1] ?? digits[2])
}
