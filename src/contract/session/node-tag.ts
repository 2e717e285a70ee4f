/** What a revert learnt from the span it abandoned. Source: docs/concepts/revert.md */
export type TagKind = 'lesson' | 'finding' | 'outcome' | 'checkpoint'

/** A note attached to a message by a revert; plain data that storage must carry unchanged. */
export interface NodeTag {
  kind: TagKind
  text: string
  createdAtTurn: number
  abandonedNodeIds: number[]
}

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
