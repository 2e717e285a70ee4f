import type { AgentMessage } from '../message/message.ts'
import type { NodeTag } from '../session/node-tag.ts'

/** Why the model goes back. Source: docs/concepts/revert.md */
export type RevertCategory = 'failure' | 'tangent' | 'completion' | 'stepSummary'

/** What a running tool may ask to be taken out of the context. Applied after the results of its turn. */
export type ContextChange =
  | {
      type: 'prune'
      /** At least this many tokens, whole calls with their results, newest first. */
      tokens: number
      /** Stands in place of what is taken out. */
      memo?: string
    }
  | { type: 'revert'; category: RevertCategory; targetNodeId: number; summary?: string }

/** A prune that was applied: these messages are not sent any more. */
export interface PruneRecord {
  id: string
  /** Epoch ms. */
  at: number
  messageIds: string[]
  /** Sent once, where the earliest of them stood. */
  memo?: string
  /** Estimate. */
  tokensRemoved: number
}

/** A revert that was applied: the request goes up to the target, tagged, then to what came afterwards. */
export interface RevertRecord {
  id: string
  /** Epoch ms. */
  at: number
  category: RevertCategory
  targetNodeId: number
  abandonedNodeIds: number[]
  tag: NodeTag
}

/**
 * How long lessons and findings stay visible: those of the last `windowTurns` turns, and the newest `keepCount` of each kind whatever their
 * age. Outcomes and checkpoints always stay. Source: docs/concepts/revert.md
 */
export interface RevertPolicy {
  /** Default 5. */
  windowTurns: number
  /** Default 3. */
  keepCount: number
}

/** What is sent of a history, beyond the history itself. Plain JSON; replaced, never edited. */
export interface ContextState {
  readonly overlay?: CompactionOverlay
  readonly prunes?: readonly PruneRecord[]
  readonly reverts?: readonly RevertRecord[]
}

/** The defaults of the specification. */
export const defaultRevertPolicy: RevertPolicy = { windowTurns: 5, keepCount: 3 }

/** Whole turns from one message of the history to another, both included. A call and its result are never in different turns. */
export interface TurnSpan {
  firstId: string
  lastId: string
  turns: number
}

/** Turns, and what is sent instead of them. */
export interface CompactedSection {
  range: TurnSpan
  messages: AgentMessage[]
}

/**
 * What is sent instead of the older part of a history, as plain JSON. The history itself stays.
 *
 * **Contract**: the sections follow each other without gap or overlap: `keepFirst` as it is, then `keepCompacted.messages`, then
 * `keepRecent.messages`, then every message of the history after them.
 *
 * Source: docs/concepts/context-and-compaction.md
 */
export interface CompactionOverlay {
  id: string
  /** Epoch ms. */
  createdAt: number
  /** Loop in which it was made. */
  loopId: string
  keepFirst?: TurnSpan
  keepCompacted: CompactedSection
  keepRecent?: CompactedSection
}
