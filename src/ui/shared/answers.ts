import { type AssistantMessage, isReport, type MessageEnvelope, textOf, type UserMessage } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'

/** Result text of a call whose response failed or was stopped. */
export const notRunText = 'The call was not run: the answer ended before it was whole.'
/** Result text of a call without a result before the conversation continued. */
export const unansweredText = 'The call has no result.'
/** Result text of a call that waits for a decision about another one. */
export const waitsText = 'Waits for a decision.'

/**
 * Returns the loops of one answer: everything between two user messages. User messages during one of these loops (steering, follow-ups)
 * belong to the answer.
 */
export class AnswerLoops {
  readonly #loops = new Set<string>()

  add(loopId: string | undefined): void {
    if (loopId !== undefined) this.#loops.add(loopId)
  }

  has(loopId: string | undefined): boolean {
    return loopId !== undefined && this.#loops.has(loopId)
  }
}

/** Returns whether the runtime wrote this user message, because models have no other channel: a limit was reached, a background task ended. */
export function noticeOf(message: UserMessage & Partial<MessageEnvelope>): string | undefined {
  const text = textOf(message.content)
  if (isReport(message)) return text
  return text.startsWith('[Agent stopped: ') && text.endsWith(']') ? text : undefined
}

/** Returns whether a response is incomplete: its calls never run. */
export function isCut({ stopReason }: AssistantMessage): boolean {
  return stopReason === 'error' || stopReason === 'aborted'
}

const denied = 'The user denied this tool call'

/** Returns the reason if a user denied the call; `undefined` for other results. */
export function denialOf({ content, isError }: ToolResult): { reason?: string } | undefined {
  const text = textOf(content)
  if (isError !== true || !text.startsWith(denied)) return undefined
  const reason = text.slice(denied.length).replace(/^: /, '')
  return reason === '' ? {} : { reason }
}
