import { type AssistantMessage, isReport, type MessageEnvelope, textOf, type UserMessage } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'

/** Result text for a call whose response failed or was stopped. */
export const notRunText = 'The call did not run because the response ended before it was complete.'
/** Result text for a call that had no result when the conversation continued. */
export const unansweredText = 'The call has no result.'
/** Result text for a call that waits for another call's decision. */
export const waitsText = 'Waits for a decision.'

/**
 * Tracks the loops of one response, which includes everything between two user messages. User messages sent during one of these loops
 * (steering, follow-ups) belong to the response.
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

/**
 * Returns the text of a user message that the runtime wrote, for example after a limit or a background task, or `undefined` for other
 * messages.
 */
export function noticeOf(message: UserMessage & Partial<MessageEnvelope>): string | undefined {
  const text = textOf(message.content)
  if (isReport(message)) return text
  return text.startsWith('[Agent stopped: ') && text.endsWith(']') ? text : undefined
}

/** Returns whether a response is incomplete, so that its calls never run. */
export function isCut({ stopReason }: AssistantMessage): boolean {
  return stopReason === 'error' || stopReason === 'aborted'
}

const denied = 'The user denied this tool call'

/** Returns the reason if a user denied the call, or `undefined` for other results. */
export function denialOf({ content, isError }: ToolResult): { reason?: string } | undefined {
  const text = textOf(content)
  if (isError !== true || !text.startsWith(denied)) return undefined
  const reason = text.slice(denied.length).replace(/^: /, '')
  return reason === '' ? {} : { reason }
}
