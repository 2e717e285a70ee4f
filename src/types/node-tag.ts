/** What a revert learnt from the span it abandoned. Source: reference/phi-core-0.10.md §1 "Composition I". */
export type TagKind = 'lesson' | 'finding' | 'outcome' | 'checkpoint'

/** A note attached to a message by a revert; plain data that storage must carry unchanged. */
export interface NodeTag {
  kind: TagKind
  text: string
  createdAtTurn: number
  abandonedNodeIds: number[]
}
