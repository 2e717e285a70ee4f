import type { ContextState } from '../../contract/context/context-change.ts'
import type { FileContent, ImageContent } from '../../contract/message/content.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { JournalEntry } from '../../contract/session/journal-entry.ts'
import type { SessionFormation } from '../../contract/session/session.ts'

/** A `JournalEntry` and where it belongs. */
export interface JournalRecord {
  entry: JournalEntry
  agentId: string
  sessionId: string
  loopId: string
  runId: string
  turnIndex: number
  /** Epoch ms. */
  at: number
}

/** The conversation a loop works on, as it is when a record is written; a live view. */
export interface JournaledConversation {
  readonly messages: readonly AgentMessage[]
  readonly state?: ContextState | undefined
  /** Why its session was opened. Default: for its first loop. */
  readonly formation?: SessionFormation | undefined
}

/**
 * Where a run makes its history durable.
 *
 * **Contract**
 * - The loop awaits `append` for each accepted input, each finished assistant message, before each tool's `execute` (intent) and after
 *   each result, in that order; and for each compaction, prune and revert before a request uses it. Calls overlap where tools run at the
 *   same time; they are made in the order in which the records belong.
 * - `turnStart` is awaited only after the next record of its turn: nothing rests on it alone, so it may be written together with that one.
 * - `loopStart` comes before every other entry of a loop, `loopEnd` is its last, right after `agentEnd`. A loop that a hook refused has these two.
 * - A resolved promise means: durable. A rejection ends the run with code `journal` before the next side effect.
 * - Without a journal nothing is awaited.
 *
 * Source: docs/reference/sessions.md
 */
export interface Journal {
  append(record: JournalRecord, conversation: JournaledConversation): Promise<void>
  /** Told of every event of the loops it records, as it is emitted, where it has this; nothing waits for it. */
  event?(event: AgentEvent): void
  /**
   * A block of media that has a `blob`, with its bytes in its place; kept as long as the block. Rejects with `SessionError`: `notFound` where they are not there,
   * `invalidSession` where they are damaged. A line then stands for the block in a request, and a warning says why.
   */
  media?(sessionId: string, block: ImageContent | FileContent): Promise<ImageContent | FileContent>
}
