import type { ContextState, PruneRecord } from '../types/context-change.ts'
import type { AgentMessage, LlmMessage } from '../types/message.ts'
import type { ExpandedOverlay } from './compaction/expand-overlay.ts'
import { abandonedIds } from './revert.ts'

const memos = new WeakMap<PruneRecord, LlmMessage>()

/**
 * A function that leaves out of a part of `expanded` what was pruned or abandoned, and puts the memo of each prune where the earliest of its
 * messages stood. It returns the same list where there is nothing to do, and the same memo each time.
 */
export function visibleIn(
  expanded: ExpandedOverlay,
  { prunes = [], reverts = [] }: ContextState,
): (messages: readonly AgentMessage[]) => readonly AgentMessage[] {
  const { first, compacted, recent, rest } = expanded
  const all = first.length + compacted.length + recent.length === 0 ? rest : [...first, ...compacted, ...recent, ...rest]
  const hidden = new Set(abandonedIds(all, reverts))
  if (prunes.length === 0 && hidden.size === 0) return (messages) => messages
  const memoAt = memoPlaces(prunes, all, first.length, hidden)
  for (const record of prunes) for (const id of record.messageIds) hidden.add(id)
  return (messages) => (messages.some((message) => hidden.has(message.id)) ? withoutHidden(messages, hidden, memoAt) : messages)
}

/** The memos, by the message in whose place they stand. */
function memoPlaces(
  prunes: readonly PruneRecord[],
  all: readonly AgentMessage[],
  firstLength: number,
  abandoned: ReadonlySet<string>,
): Map<string, LlmMessage> {
  const positions = new Map(all.map((message, at) => [message.id, at]))
  const memoAt = new Map<string, LlmMessage>()
  for (const record of prunes) {
    if (record.memo === undefined) continue
    const sent = record.messageIds.filter((id) => !abandoned.has(id))
    const place = earliestOf(sent, positions, firstLength)
    if (place !== undefined) memoAt.set(place, memoOf(record))
  }
  return memoAt
}

/**
 * The earliest of `ids`. `undefined` when a compaction made since has taken the memo over: then some of the messages are there no longer,
 * and none of those left stands before what was compacted.
 */
function earliestOf(ids: readonly string[], positions: ReadonlyMap<string, number>, firstLength: number): string | undefined {
  let earliest: string | undefined
  let at = Infinity
  let isComplete = true
  for (const id of ids) {
    const position = positions.get(id)
    if (position === undefined) isComplete = false
    else if (position < at) [earliest, at] = [id, position]
  }
  return isComplete || at < firstLength ? earliest : undefined
}

function memoOf(record: PruneRecord): LlmMessage {
  let memo = memos.get(record)
  if (memo === undefined) {
    const text = `[Pruned context summary: ${record.memo}]`
    memo = { id: record.id, role: 'user', content: [{ type: 'text', text }], timestamp: record.at }
    memos.set(record, memo)
  }
  return memo
}

function withoutHidden(
  messages: readonly AgentMessage[],
  hidden: ReadonlySet<string>,
  memoAt: ReadonlyMap<string, LlmMessage>,
): readonly AgentMessage[] {
  const shown: AgentMessage[] = []
  let waiting: LlmMessage[] = []
  for (const message of messages) {
    const memo = memoAt.get(message.id)
    if (memo !== undefined) waiting.push(memo)
    if (hidden.has(message.id)) continue
    // Never between a call and its result.
    if (waiting.length > 0 && message.role !== 'toolResult') {
      shown.push(...waiting)
      waiting = []
    }
    shown.push(message)
  }
  return [...shown, ...waiting]
}
