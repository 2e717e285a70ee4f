import { changedState } from '../../base/json/changed-state.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
import type { SavedState, StateAuthor } from '../../contract/session/shared-state.ts'

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
 * Source: docs/concepts/shared-state.md
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
