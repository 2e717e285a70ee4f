import type { AgentMessage } from '../../contract/message/message.ts'
import { chunksOf } from './parts.ts'
import { finishReasonOf } from './run-end.ts'
import { emptyStep, toUiMessages, type UiMessageOptions } from './to-ui-messages.ts'
import type { UiChunk, UiMessage, UiPart } from './ui-message.ts'

/** Which answer a client asks for, and what it has of it. */
export interface UiReplyOptions extends UiMessageOptions {
  /** The id of the message of a person: the answer to it, of which the client has nothing. */
  to?: string
  /** The id of the answer, where the client knows it. Default: the last one. */
  answerId?: string
  /** How many steps of the answer `answerId` the client has. Default 0. */
  knownSteps?: number
}

/**
 * The chunks of a whole response that tells what a history says, for a client that asks for it once more while no run is on.
 *
 * **Contract**
 * - What the client has is not sent again. Calls that wait for a page are asked of it, unless it has their step.
 * - `useChat` does not send by itself after it, unless it is asked to.
 *
 * Source: docs/reference/ui-protocols.md
 */
export function uiMessageReply(history: readonly AgentMessage[], options: UiReplyOptions = {}): UiChunk[] {
  const { to, answerId, knownSteps = 0, ...shown } = options
  const from = to === undefined ? 0 : history.findIndex(({ id }) => id === to) + 1
  const answer = answerIn(toUiMessages(history.slice(from), shown), options)
  const { id = answerId, parts = [], metadata = {} } = answer ?? {}
  const isAsked = parts.some(asksPage)
  const last = history.findLast(({ role }) => role === 'assistant')
  const finishReason = isAsked ? 'tool-calls' : finishReasonOf(last?.role === 'assistant' ? last.stopReason : 'stop')
  if (id === undefined) return [{ type: 'start' }, { type: 'finish', finishReason }]
  const isOpenEnded = !isAsked && (answer === undefined || endsWithCalls(parts))
  const sent = chunksOf(isOpenEnded ? [...parts, emptyStep] : parts, { after: knownSteps, asks: true })
  const isStepOpen = sent.some(({ type }) => type === 'start-step')
  return [
    { type: 'start', messageId: id },
    ...sent,
    ...(isStepOpen ? [{ type: 'finish-step' } as const] : []),
    { type: 'finish', finishReason, messageMetadata: metadata },
  ]
}

/** Whether the hook would take the results of the last step for something to send. */
function endsWithCalls(parts: readonly UiPart[]): boolean {
  return parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1).some((part) => 'toolCallId' in part)
}

function asksPage(part: UiPart): boolean {
  if (!('state' in part)) return false
  return part.state === 'approval-requested' || (part.state === 'input-available' && part.type !== 'dynamic-tool')
}

/** The answer that is meant; undefined where there is none. */
function answerIn(shown: readonly UiMessage[], { to, answerId }: UiReplyOptions): UiMessage | undefined {
  const [first] = shown
  if (to !== undefined) return first?.role === 'assistant' ? first : undefined
  if (answerId !== undefined) return shown.find(({ id }) => id === answerId)
  return shown.findLast(({ role }) => role === 'assistant')
}
