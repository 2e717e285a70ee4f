import type { CompactionOverlay, ContextState, PruneRecord } from '../../contract/context/context-change.ts'
import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, isLlmMessage, now, type TurnId } from '../../contract/message/message.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'
import { messageTokens } from '../tokens/estimate.ts'
import { isAnswer } from '../view/stand-in.ts'
import { groupStarts } from '../view/turns.ts'

/** Input for a prune. */
export interface PruneInput {
  /** The messages that are currently sent, from `deriveView`. */
  view: readonly AgentMessage[]
  /** Minimum number of tokens to remove, if there are that many. */
  tokens: number
  memo?: string
  /** The turn that requested the prune, which the prune retains. */
  currentTurn: TurnId
  state: ContextState
  counter: TokenCounter
}

/**
 * Selects messages to remove: whole responses with all their results, newest first, until `tokens` are reached. `undefined` if nothing can be
 * removed.
 *
 * **Contract**
 * - Never removes: user messages, the current turn, memos, results of a compaction, responses with a call without result, and failed
 *   responses, which are not sent anyway.
 * - `messageIds` are in history order. Pure except for the id and the record's time.
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

/** Returns each sent response with its results, oldest first, from index `from`. */
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

/** Returns whether every call has its result. A later result, as after a pause, would find no call. */
function isAnswered([answer, ...results]: readonly AgentMessage[]): boolean {
  if (answer?.role !== 'assistant') return false
  const answered = new Set(results.map((result) => (result.role === 'toolResult' ? result.toolCallId : undefined)))
  return answer.content.every((block) => block.type !== 'toolCall' || answered.has(block.id))
}

function isOfTurn(message: AgentMessage, { loopId, turnIndex }: TurnId): boolean {
  return isLlmMessage(message) && message.turnId?.loopId === loopId && message.turnId.turnIndex === turnIndex
}

/** Returns how many messages at the start of `view` replace the compacted history. */
function compactedUpTo(view: readonly AgentMessage[], overlay: CompactionOverlay | undefined): number {
  if (overlay === undefined) return 0
  const { keepFirst, keepCompacted, keepRecent } = overlay
  const ids = new Set<string | undefined>()
  for (const range of [keepFirst, keepCompacted.range, keepRecent?.range]) ids.add(range?.firstId).add(range?.lastId)
  for (const message of [...keepCompacted.messages, ...(keepRecent?.messages ?? [])]) ids.add(message.id)
  return view.findLastIndex((message) => ids.has(message.id)) + 1
}
