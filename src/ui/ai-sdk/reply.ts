import type { AgentMessage } from '../../contract/message/message.ts'
import { chunksOf } from './parts.ts'
import { finishReasonOf } from './run-end.ts'
import { emptyStep, toUiMessages, type UiMessageOptions } from './to-ui-messages.ts'
import type { UiChunk, UiMessage, UiPart } from './ui-message.ts'

/** Options of `uiMessageReply`: the requested response, and the steps that the client already has. */
export interface UiReplyOptions extends UiMessageOptions {
  /** Id of the user message whose response is sent in full. */
  to?: string
  /** Response id. Default: the last response. */
  answerId?: string
  /** Number of steps in the response `answerId` that the client already has. Default: 0. */
  knownSteps?: number
  /** Calls that this request decides. Their results are included: another decision or a stop may have ended them. */
  decided?: readonly string[]
}

/**
 * Returns the chunks of a complete response from the history, for a client that connects while no run is active.
 *
 * **Contract**
 * - Omits steps that the client already has, except data parts and the results of `decided`. Includes the pending client tool calls of all
 *   other steps.
 * - Does not make `useChat` send a request automatically, unless `useChat` is configured to do so.
 *
 * Source: docs/reference/ui-protocols.md
 */
export function uiMessageReply(history: readonly AgentMessage[], options: UiReplyOptions = {}): UiChunk[] {
  const { to, answerId, knownSteps = 0, decided, ...shown } = options
  const from = to === undefined ? 0 : history.findIndex(({ id }) => id === to) + 1
  const answer = answerIn(toUiMessages(history.slice(from), shown), options)
  const { id = answerId, parts = [], metadata = {} } = answer ?? {}
  const isAsked = parts.some(asksPage)
  const last = history.findLast(({ role }) => role === 'assistant')
  const finishReason = isAsked ? 'tool-calls' : finishReasonOf(last?.role === 'assistant' ? last.stopReason : 'stop')
  if (id === undefined) return [{ type: 'start' }, { type: 'finish', finishReason }]
  const isOpenEnded = !isAsked && (answer === undefined || endsWithCalls(parts))
  const sent = chunksOf(isOpenEnded ? [...parts, emptyStep] : parts, {
    after: knownSteps,
    asks: true,
    ...(decided !== undefined && { decided }),
  })
  const isStepOpen = sent.some(({ type }) => type === 'start-step')
  return [
    { type: 'start', messageId: id },
    ...sent,
    ...(isStepOpen ? [{ type: 'finish-step' } as const] : []),
    { type: 'finish', finishReason, messageMetadata: metadata },
  ]
}

/** Returns whether `useChat` would send the results of the last step. */
function endsWithCalls(parts: readonly UiPart[]): boolean {
  return parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1).some((part) => 'toolCallId' in part)
}

function asksPage(part: UiPart): boolean {
  if (!('state' in part)) return false
  return part.state === 'approval-requested' || (part.state === 'input-available' && part.type !== 'dynamic-tool')
}

/** Returns the referenced response, or `undefined` if it does not exist. */
function answerIn(shown: readonly UiMessage[], { to, answerId }: UiReplyOptions): UiMessage | undefined {
  const [first] = shown
  if (to !== undefined) return first?.role === 'assistant' ? first : undefined
  if (answerId !== undefined) return shown.find(({ id }) => id === answerId)
  return shown.findLast(({ role }) => role === 'assistant')
}
