import type { AgentMessage } from '../../contract/message/message.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
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
 * Source: docs/concepts/steering-and-follow-ups.md
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
