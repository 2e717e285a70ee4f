import type { ContextState } from '../../contract/context/context-change.ts'
import type { FileContent, ImageContent } from '../../contract/message/content.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { JournalEntry } from '../../contract/session/journal-entry.ts'
import type { SessionFormation } from '../../contract/session/session.ts'

/** A `JournalEntry` with its session, loop and time. */
export interface JournalRecord {
  entry: JournalEntry
  agentId: string
  sessionId: string
  loopId: string
  runId: string
  turnIndex: number
  /** Epoch milliseconds. */
  at: number
}

/** Live view of a loop's conversation when an entry is recorded. */
export interface JournaledConversation {
  readonly messages: readonly AgentMessage[]
  readonly state?: ContextState | undefined
  /** Reason why the session was created. Default: for its first loop. */
  readonly formation?: SessionFormation | undefined
}

/**
 * Makes the history of a run durable.
 *
 * **Contract**
 * - The loop awaits `append` for each accepted input, each finished assistant message, before each tool's `execute` (intent) and after each
 *   result, in that order. It also awaits `append` for each compaction, prune and revert before a request uses it. Concurrent tools make
 *   overlapping calls, in record order.
 * - The loop awaits `turnStart` only after the turn's next record, so both can be written together.
 * - `loopStart` is a loop's first entry. `loopEnd` is its last, immediately after `agentEnd`. A loop that a hook refused also records both.
 * - `append` resolves when the record is durable. A rejection ends the run with code `journal` before the next side effect.
 * - Without a journal, the loop awaits none of these.
 *
 * Source: docs/reference/sessions.md
 */
export interface Journal {
  append(record: JournalRecord, conversation: JournaledConversation): Promise<void>
  /** Receives every event of the recorded loops. The loop does not await this. */
  event?(event: AgentEvent): void
  /**
   * Resolves with a copy of the media block that contains the bytes instead of `blob`, cached per block. Rejects with `SessionError`:
   * `notFound` if the bytes are missing, `invalidSession` if they are damaged. A text line then replaces the block in requests, and a
   * warning gives the reason.
   */
  media?(sessionId: string, block: ImageContent | FileContent): Promise<ImageContent | FileContent>
}
