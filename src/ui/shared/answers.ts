import {
  type AgentMessage,
  type AssistantMessage,
  isReport,
  type MessageEnvelope,
  textOf,
  type UserMessage,
} from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent } from '../../contract/run/event.ts'
import type { SubAgentRef } from '../../contract/run/run-facts.ts'
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

/** The branches of one prompt, where it has any. Only the one that is chosen is shown, once it is. */
export class BranchedLoops {
  readonly #messages = new Map<string, readonly AgentMessage[]>()

  begin(loopIds: readonly string[]): void {
    for (const id of loopIds) this.#messages.set(id, [])
  }

  has({ loopId }: AgentEvent): boolean {
    return this.#messages.has(loopId)
  }

  /** A branch has ended. */
  keep({ loopId, messages }: AgentEndEvent): void {
    this.#messages.set(loopId, messages)
  }

  messagesOf(loopId: string): readonly AgentMessage[] {
    return this.#messages.get(loopId) ?? []
  }
}

/** An event of a branch about an approval, as if a sub-agent asked: the answer that is shown does not hold the call. */
export function ofBranch<E extends { loopId: string; subAgent?: SubAgentRef }>(event: E): E & { subAgent: SubAgentRef } {
  const { loopId, subAgent = { toolCallId: loopId, toolName: 'branch', loopId } } = event
  return { ...event, subAgent }
}
