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

/** Why the model goes back, in words. */
export const revertCategory = oneOf('failure', 'tangent', 'completion', 'stepSummary')
/** Why the model goes back. Source: docs/concepts/context.md */
export type RevertCategory = Infer<typeof revertCategory>

export const contextChange = tagged('type', {
  prune: {
    /** At least this many tokens, whole calls with their results, newest first. */
    tokens: aNumber,
    /** Stands in place of what is taken out. */
    memo: optional(aText),
  },
  revert: { category: revertCategory, targetNodeId: aNumber, summary: optional(aText) },
})
/** What a running tool may ask to be taken out of the context. Applied after the results of its turn. */
export type ContextChange = Infer<typeof contextChange>

const pruneFields = {
  id: aText,
  /** Epoch ms. */
  at: aNumber,
  messageIds: listOf(aText),
  /** Sent once, where the earliest of them stood. */
  memo: optional(aText),
  /** Estimate. */
  tokensRemoved: aNumber,
}

/** A prune that was applied: these messages are not sent any more. */
export interface PruneRecord extends FieldsOf<typeof pruneFields> {}
export const pruneRecord: ShapeOf<PruneRecord> = object<PruneRecord>(pruneFields)

const revertFields = {
  id: aText,
  /** Epoch ms. */
  at: aNumber,
  category: revertCategory,
  targetNodeId: aNumber,
  abandonedNodeIds: listOf(aNumber),
  tag: nodeTag,
}

/** A revert that was applied: the request goes up to the target, tagged, then to what came afterwards. */
export interface RevertRecord extends FieldsOf<typeof revertFields> {}
export const revertRecord: ShapeOf<RevertRecord> = object<RevertRecord>(revertFields)

const revertPolicyFields = {
  /** Default 5. */
  windowTurns: aNumberFromZero,
  /** Default 3. */
  keepCount: aNumberFromZero,
}

/**
 * How long lessons and findings stay visible: those of the last `windowTurns` turns, and the newest `keepCount` of each kind whatever their
 * age. Outcomes and checkpoints always stay. Source: docs/concepts/context.md
 */
export interface RevertPolicy extends FieldsOf<typeof revertPolicyFields> {}

/** The defaults of the specification. */
export const defaultRevertPolicy: RevertPolicy = { windowTurns: 5, keepCount: 3 }

const spanFields = { firstId: aText, lastId: aText, turns: aNumber }

/** Whole turns from one message of the history to another, both included. A call and its result are never in different turns. */
export interface TurnSpan extends FieldsOf<typeof spanFields> {}
const turnSpan: ShapeOf<TurnSpan> = object<TurnSpan>(spanFields)

const messages: ShapeOf<AgentMessage[]> = listOf(agentMessage)
const sectionFields = { range: turnSpan, messages }

/** Turns, and what is sent instead of them. */
export interface CompactedSection extends FieldsOf<typeof sectionFields> {}
const compactedSection: ShapeOf<CompactedSection> = object<CompactedSection>(sectionFields)

const overlayFields = {
  id: aText,
  /** Epoch ms. */
  createdAt: aNumber,
  /** Loop in which it was made. */
  loopId: aText,
  keepFirst: optional(turnSpan),
  keepCompacted: compactedSection,
  keepRecent: optional(compactedSection),
}

/**
 * What is sent instead of the older part of a history, as plain JSON. The history itself stays.
 *
 * **Contract**: the sections follow each other without gap or overlap: `keepFirst` as it is, then `keepCompacted.messages`, then
 * `keepRecent.messages`, then every message of the history after them.
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

/** What is sent of a history, beyond the history itself. Plain JSON; replaced, never edited. */
export interface ContextState extends Readonly<FieldsOf<typeof stateFields>> {}
export const contextState: ShapeOf<ContextState> = object<ContextState>(stateFields)
