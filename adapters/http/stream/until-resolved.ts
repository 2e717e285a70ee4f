import type { IsSeen } from './frame-writer.ts'

/** What a client has seen of a run when it says something about these calls: everything up to the first answer to what it was asked. */
export function untilResolved(toolCallIds: Iterable<string>): IsSeen {
  const settled = new Set(toolCallIds)
  let isBefore = true
  return (event) => {
    const isAnswer = event.type === 'approvalResolved' || event.type === 'clientCallResolved'
    if (isAnswer && settled.has(event.toolCallId)) isBefore = false
    return isBefore
  }
}
