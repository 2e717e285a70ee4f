import { nodeTag } from '../message/identity.ts'
import { type AgentMessage, agentMessage } from '../message/message.ts'
import {
  aNumber,
  aNumberFromZero,
  aText,
  type FieldsOf,
  fixedListOf,
  type Infer,
  listOf,
  object,
  oneOf,
  optional,
  type ShapeOf,
  tagged,
} from '../shape/shape.ts'

/** Category of the model's reason for a revert. */
export const revertCategory = oneOf('failure', 'tangent', 'completion', 'stepSummary')
/** Reason for a revert. Source: docs/concepts/context.md */
export type RevertCategory = Infer<typeof revertCategory>

export const contextChange = tagged('type', {
  prune: {
    /** Removes at least this many tokens: whole calls with their results, newest first. */
    tokens: aNumber,
    /** Text that replaces the removed messages. */
    memo: optional(aText),
  },
  revert: { category: revertCategory, targetNodeId: aNumber, summary: optional(aText) },
})
/** Context change that a running tool requests, applied after the turn's tool results. */
export type ContextChange = Infer<typeof contextChange>

const pruneFields = {
  id: aText,
  /** Epoch milliseconds. */
  at: aNumber,
  messageIds: listOf(aText),
  /** Text to send once, at the position of the earliest removed message. */
  memo: optional(aText),
  /** Estimate. */
  tokensRemoved: aNumber,
}

/** An applied prune: requests omit these messages. */
export interface PruneRecord extends FieldsOf<typeof pruneFields> {}
export const pruneRecord: ShapeOf<PruneRecord> = object<PruneRecord>(pruneFields)

const revertFields = {
  id: aText,
  /** Epoch milliseconds. */
  at: aNumber,
  category: revertCategory,
  targetNodeId: aNumber,
  abandonedNodeIds: listOf(aNumber),
  tag: nodeTag,
}

/** An applied revert: the request contains the messages up to the target, its tags, and the messages after the revert. */
export interface RevertRecord extends FieldsOf<typeof revertFields> {}
export const revertRecord: ShapeOf<RevertRecord> = object<RevertRecord>(revertFields)

const revertPolicyFields = {
  /** Default: 5. */
  windowTurns: aNumberFromZero,
  /** Default: 3. */
  keepCount: aNumberFromZero,
}

/**
 * Limits the visible lessons and findings to those from the last `windowTurns` turns, plus the newest `keepCount` per kind. Outcomes and
 * checkpoints are always visible. Source: docs/concepts/context.md
 */
export interface RevertPolicy extends FieldsOf<typeof revertPolicyFields> {}

/** The specification's defaults. */
export const defaultRevertPolicy: RevertPolicy = { windowTurns: 5, keepCount: 3 }

const spanFields = { firstId: aText, lastId: aText, turns: aNumber }

/** Range of whole turns in the history, including both ends. A call and its result are always in the same turn. */
export interface TurnSpan extends FieldsOf<typeof spanFields> {}
const turnSpan: ShapeOf<TurnSpan> = object<TurnSpan>(spanFields)

const messages: ShapeOf<AgentMessage[]> = listOf(agentMessage)
const sectionFields = { range: turnSpan, messages }

/** A range of turns and its replacement. */
export interface CompactedSection extends FieldsOf<typeof sectionFields> {}
const compactedSection: ShapeOf<CompactedSection> = object<CompactedSection>(sectionFields)

const overlayFields = {
  id: aText,
  /** Epoch milliseconds. */
  createdAt: aNumber,
  /** Loop that created the overlay. */
  loopId: aText,
  keepFirst: optional(turnSpan),
  keepCompacted: compactedSection,
  keepRecent: optional(compactedSection),
}

/**
 * Replacement for the older part of a history, as plain JSON. The history itself is unchanged.
 *
 * **Contract**: sections are contiguous. `keepFirst` is sent unchanged, then `keepCompacted.messages`, `keepRecent.messages`, and all later
 * messages of the history.
 *
 * Source: docs/concepts/context.md
 */
export interface CompactionOverlay extends FieldsOf<typeof overlayFields> {}
export const compactionOverlay: ShapeOf<CompactionOverlay> = object<CompactionOverlay>(overlayFields)

const stateFields = {
  overlay: optional(compactionOverlay),
  prunes: optional(fixedListOf(pruneRecord)),
  reverts: optional(fixedListOf(revertRecord)),
}

/** Describes how to send a history: overlay, prunes and reverts. Plain JSON. Replaced, never mutated. */
export interface ContextState extends Readonly<FieldsOf<typeof stateFields>> {}
export const contextState: ShapeOf<ContextState> = object<ContextState>(stateFields)
