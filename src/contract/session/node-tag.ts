import { aNumber, aText, type FieldsOf, type Infer, listOf, object, oneOf, type ShapeOf } from '../shape/shape.ts'

/** What a revert learnt from the span it abandoned, in words. */
export const tagKind = oneOf('lesson', 'finding', 'outcome', 'checkpoint')
/** What a revert learnt from the span it abandoned. Source: docs/concepts/revert.md */
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
