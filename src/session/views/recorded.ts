import { changedState } from '../../base/json/json-patch.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
import type { SavedState, StateAuthor } from '../../contract/session/shared-state.ts'
import type { ReceiptStatus } from '../../types/run/run.ts'

/** What was said to a run while it was on, and what became of it. */
export interface RecordedInput {
  kind: 'steer' | 'followUp'
  /** The run that is to hear it: the last one that goes on with the one that was on. */
  loopId: string
  /** What was said together. The record has the id of the last one. */
  messages: readonly AgentMessage[]
  status: ReceiptStatus
}

/**
 * What was said to the runs of a session while they were on, by the id of its message, in order.
 *
 * **Contract**
 * - `queued` is what waits still: its run is on, or was cut off and not gone on with to its end.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export function queuedInputs(records: readonly SessionRecord[]): Map<string, RecordedInput> {
  const found = new Map<string, RecordedInput>()
  const settle = (status: ReceiptStatus, goes: (input: RecordedInput) => boolean) => {
    for (const input of found.values()) if (input.status === 'queued' && goes(input)) input.status = status
  }
  for (const { entry, loopId = '' } of records) {
    if (entry.type === 'queued') {
      const id = entry.messages.at(-1)?.id
      if (id !== undefined)
        found.set(id, { kind: entry.kind, loopId, messages: entry.messages, status: entry.isReturned ? 'returned' : 'queued' })
    } else if (found.size === 0) continue
    else if (entry.type === 'input') settle('delivered', ({ messages }) => messages.some(({ id }) => id === entry.message.id))
    else if (entry.type === 'loopEnd') settle('returned', (input) => input.loopId === loopId)
    else if (entry.type === 'loopStart') {
      // It goes on with one that was cut off.
      for (const input of found.values()) if (input.status === 'queued' && input.loopId === entry.parentLoopId) input.loopId = loopId
    }
  }
  return found
}

/** A version of shared state, who made it, and when. */
export interface RecordedState extends SavedState {
  by: StateAuthor
  /** The call that made it. */
  toolCallId?: string
  /** Epoch ms. */
  at: number
}

/**
 * All versions of the shared state of a session, from its log.
 *
 * **Contract**: pure, in the order of the records; version 0 is what the application begins with.
 *
 * Source: docs/guides/shared-state.md
 */
export function sharedStatesOf(records: readonly SessionRecord[]): RecordedState[] {
  const states: RecordedState[] = []
  let saved: SavedState | undefined
  for (const { entry, at } of records) {
    if (entry.type !== 'sharedState') continue
    const next = changedState(saved, entry)
    if (next === saved || next === undefined) continue
    const { by, toolCallId } = entry
    // One that a session goes on from another with is no change.
    if (next.version !== saved?.version) states.push({ ...next, by, at, ...(toolCallId !== undefined && { toolCallId }) })
    saved = next
  }
  return states
}
