import type { IsSeen } from './frame-writer.ts'

/** A call about which a client has said something. */
export interface AnsweredCall {
  toolCallId: string
}

/** What a client has seen of a run when it says something about calls: everything up to the first answer to what it was asked. */
export function untilResolved(about: readonly AnsweredCall[]): IsSeen {
  const settled = new Set(about.map(({ toolCallId }) => toolCallId))
  let isBefore = true
  return (event) => {
    const isAnswer = event.type === 'approvalResolved' || event.type === 'clientCallResolved'
    if (isAnswer && settled.has(event.toolCallId)) isBefore = false
    return isBefore
  }
}
