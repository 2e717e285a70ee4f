import type { RevertCategory } from '../contract/context/context-change.ts'
import type { RunFailure } from '../contract/run/run-facts.ts'

/** Where a note stands. */
interface NotePlace {
  /** Unique within a state. */
  id: string
  /** Epoch ms. */
  at: number
  /** The newest message at that time; absent: before all messages. */
  afterMessageId?: string
}

/** The older part of the conversation is sent in short form. `failed`: nothing came of it. Tokens are estimates. */
export interface CompactionNote extends NotePlace {
  type: 'compaction'
  status: 'running' | 'done' | 'failed'
  messagesBefore: number
  tokensBefore: number
  /** Absent while it runs. */
  messagesAfter?: number
  /** Absent while it runs. */
  tokensAfter?: number
  loopsCompacted?: number
  error?: RunFailure
}

/** The model had messages taken out of what it is sent. */
export interface PruneNote extends NotePlace {
  type: 'prune'
  /** Estimate. */
  tokensRemoved: number
  messagesRemoved: number
  /** Ids of the messages that are not sent any more. */
  messageIds: readonly string[]
  memo?: string
}

/** The model went back to an earlier point, or asked to and was refused. */
export interface RevertNote extends NotePlace {
  type: 'revert'
  category: RevertCategory
  target: number
  abandonedNodeIds: readonly number[]
  summary?: string
  applied: boolean
  /** Why it was refused. */
  reason?: string
}

/** What happened between two messages to that which the model is sent. On screen the conversation stays whole. */
export type NoteView = CompactionNote | PruneNote | RevertNote
