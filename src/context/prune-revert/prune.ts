import type { CompactionOverlay, ContextState, PruneRecord } from '../../contract/context/context-change.ts'
import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, isLlmMessage, now, type TurnId } from '../../contract/message/message.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'
import { messageTokens } from '../tokens/estimate.ts'
import { isAnswer } from '../view/stand-in.ts'
import { groupStarts } from '../view/turns.ts'

/** What a prune is planned from. */
export interface PruneInput {
  /** The messages that are sent now, from `deriveView`. */
  view: readonly AgentMessage[]
  /** At least so many are removed, if there are that many. */
  tokens: number
  memo?: string
  /** The turn that asked; it stays. */
  currentTurn: TurnId
  state: ContextState
  counter: TokenCounter
}

/**
 * Chooses what is not sent any more: whole answers with all their results, newest first, until `tokens` are reached. `undefined` when
 * nothing may be removed.
 *
 * **Contract**
 * - Never removed: what the user said, the current turn, memos, what a compaction left, answers with a call that has no result yet, and failed
 *   answers, which are not sent anyway.
 * - `messageIds` are in the order of the history. Pure but for the id and the time of the record.
 *
 * Source: docs/concepts/context.md
 */
export function planPrune({ view, tokens, memo, currentTurn, state, counter }: PruneInput): PruneRecord | undefined {
  const pruned = new Set(state.prunes?.flatMap((record) => record.messageIds))
  const mayGo = (message: AgentMessage) => !isOfTurn(message, currentTurn) && !pruned.has(message.id)
  const chosen: AgentMessage[][] = []
  let tokensRemoved = 0
  for (const group of answersAfter(view, compactedUpTo(view, state.overlay)).reverse()) {
    if (tokensRemoved >= tokens) break
    if (!isAnswered(group) || !group.every(mayGo)) continue
    chosen.unshift(group)
    tokensRemoved += group.reduce((sum, message) => sum + messageTokens(message, counter), 0)
  }
  if (chosen.length === 0) return undefined
  const record: PruneRecord = { id: newId(), at: now(), messageIds: chosen.flat().map((message) => message.id), tokensRemoved }
  if (memo !== undefined && memo.trim() !== '') record.memo = memo
  return record
}

/** Each answer that is sent, with its results, oldest first, from position `from` on. */
function answersAfter(view: readonly AgentMessage[], from: number): AgentMessage[][] {
  const starts = groupStarts(view)
  const groups = new Map<number, AgentMessage[]>()
  view.forEach((message, index) => {
    const start = starts[index] ?? index
    if (start < from) return
    if (start === index && isAnswer(message) && !isFailed(message.stopReason)) groups.set(index, [message])
    else if (start !== index) groups.get(start)?.push(message)
  })
  return [...groups.values()]
}

function isFailed(stopReason: string): boolean {
  return stopReason === 'error' || stopReason === 'aborted'
}

/** Whether every call has its result. A result that comes later, as after a pause, would find no call. */
function isAnswered([answer, ...results]: readonly AgentMessage[]): boolean {
  if (answer?.role !== 'assistant') return false
  const answered = new Set(results.map((result) => (result.role === 'toolResult' ? result.toolCallId : undefined)))
  return answer.content.every((block) => block.type !== 'toolCall' || answered.has(block.id))
}

function isOfTurn(message: AgentMessage, { loopId, turnIndex }: TurnId): boolean {
  return isLlmMessage(message) && message.turnId?.loopId === loopId && message.turnId.turnIndex === turnIndex
}

/** How many messages at the beginning of `view` stand for the compacted part of the history. */
function compactedUpTo(view: readonly AgentMessage[], overlay: CompactionOverlay | undefined): number {
  if (overlay === undefined) return 0
  const { keepFirst, keepCompacted, keepRecent } = overlay
  const ids = new Set<string | undefined>()
  for (const range of [keepFirst, keepCompacted.range, keepRecent?.range]) ids.add(range?.firstId).add(range?.lastId)
  for (const message of [...keepCompacted.messages, ...(keepRecent?.messages ?? [])]) ids.add(message.id)
  return view.findLastIndex((message) => ids.has(message.id)) + 1
}
