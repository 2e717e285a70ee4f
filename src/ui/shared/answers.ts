import { type AssistantMessage, isReport, type MessageEnvelope, textOf, type UserMessage } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'

/** Of a call whose answer failed or was stopped before it was whole. */
export const notRunText = 'The call was not run: the answer ended before it was whole.'
/** Of a call that nobody answered before the conversation went on. */
export const unansweredText = 'The call has no result.'
/** Shown in place of the result of a call that waits for somebody's decision about another one. */
export const waitsText = 'Waits for a decision.'

/**
 * The loops whose messages make up one answer: all that is said between two things a person said. What a person says while one of these loops runs
 * (steering, follow-ups) belongs to the answer.
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

/** What the runtime itself wrote in the place of the user, because models know no other way to be told: a limit was reached, work in the background has ended. */
export function noticeOf(message: UserMessage & Partial<MessageEnvelope>): string | undefined {
  const text = textOf(message.content)
  if (isReport(message)) return text
  return text.startsWith('[Agent stopped: ') && text.endsWith(']') ? text : undefined
}

/** Whether an answer ended before it was whole: its calls are never run. */
export function isCut({ stopReason }: AssistantMessage): boolean {
  return stopReason === 'error' || stopReason === 'aborted'
}

const denied = 'The user denied this tool call'

/** That a person refused the call, and why; `undefined` when the result says something else. */
export function denialOf({ content, isError }: ToolResult): { reason?: string } | undefined {
  const text = textOf(content)
  if (isError !== true || !text.startsWith(denied)) return undefined
  const reason = text.slice(denied.length).replace(/^: /, '')
  return reason === '' ? {} : { reason }
}
