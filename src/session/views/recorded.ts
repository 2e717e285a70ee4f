import { changedState } from '../../base/json/json-patch.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
import type { SavedState, StateAuthor } from '../../contract/session/shared-state.ts'
import type { ReceiptStatus } from '../../types/run/run.ts'

/** A queued input and its status. */
export interface RecordedInput {
  kind: 'steer' | 'followUp'
  /** Loop that should receive the input: the last continuation of the loop that was active. */
  loopId: string
  /** Messages that were queued together. The record contains the last message's id. */
  messages: readonly AgentMessage[]
  status: ReceiptStatus
}

/**
 * Returns the inputs queued during a session's runs, by message id, in order.
 *
 * **Contract**
 * - `queued`: the input is pending. The run is active, or was interrupted and has not been completed.
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
      // This loop continues an interrupted one.
      for (const input of found.values()) if (input.status === 'queued' && input.loopId === entry.parentLoopId) input.loopId = loopId
    }
  }
  return found
}

/** A version of shared state, with author and time. */
export interface RecordedState extends SavedState {
  by: StateAuthor
  /** The tool call that created it. */
  toolCallId?: string
  /** Epoch milliseconds. */
  at: number
}

/**
 * Returns all versions of a session's shared state from its log.
 *
 * **Contract**: pure, in record order. Version 0 is the initial state.
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
    // A version inherited from another session does not count as a change.
    if (next.version !== saved?.version) states.push({ ...next, by, at, ...(toolCallId !== undefined && { toolCallId }) })
    saved = next
  }
  return states
}
