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

/** Live view of the conversation that a loop works on, at the time of a record. */
export interface JournaledConversation {
  readonly messages: readonly AgentMessage[]
  readonly state?: ContextState | undefined
  /** How the session was created. Default: for its first loop. */
  readonly formation?: SessionFormation | undefined
}

/**
 * Makes the history of a run durable.
 *
 * **Contract**
 * - The loop awaits `append` for each accepted input, each finished assistant message, before each tool's `execute` (intent) and after each
 *   result, in that order. It also awaits `append` for each compaction, prune and revert before a request uses it. Calls overlap for
 *   concurrent tools; they are made in the order of the records.
 * - `turnStart` is awaited only after the next record of its turn, so both may be written together.
 * - `loopStart` is the first entry of a loop; `loopEnd` is the last, right after `agentEnd`. A loop refused by a hook has both.
 * - A resolved promise means durable. A rejection ends the run with code `journal` before the next side effect.
 * - Without a journal nothing is awaited.
 *
 * Source: docs/reference/sessions.md
 */
export interface Journal {
  append(record: JournalRecord, conversation: JournaledConversation): Promise<void>
  /** Receives every event of the recorded loops as it is emitted. Not awaited. */
  event?(event: AgentEvent): void
  /**
   * Resolves with a media block whose `blob` is replaced by its bytes, cached with the block. Rejects with `SessionError`: `notFound` if
   * the bytes are missing, `invalidSession` if they are damaged. A text line then replaces the block in requests, and a warning gives the
   * reason.
   */
  media?(sessionId: string, block: ImageContent | FileContent): Promise<ImageContent | FileContent>
}
