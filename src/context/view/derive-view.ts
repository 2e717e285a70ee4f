import type { CompactionOverlay, ContextState, PruneRecord, TurnSpan } from '../../contract/context/context-change.ts'
import { type AgentMessage, callsToAnswer, isLlmMessage, type LlmMessage } from '../../contract/message/message.ts'
import { abandonedIds } from '../prune-revert/revert.ts'
import { bridged, standIn } from './stand-in.ts'

/**
 * What is sent of a history: the compaction overlay takes the place of what it covers, pruned and abandoned messages are left out, and the
 * memos of prunes are put in.
 *
 * **Contract**
 * - Nothing is changed; unchanged messages keep their identity, what is put in is the same object at each call, so that encoded forms
 *   and token counts are found again.
 * - A history that nothing was done to is returned itself.
 *
 * Source: docs/concepts/context.md
 */
export function deriveView(messages: readonly AgentMessage[], state: ContextState): readonly AgentMessage[] {
  const expanded = expandOverlay(messages, state.overlay)
  const visible = visibleIn(expanded, state)
  const { first, compacted, recent, rest } = expanded
  return state.overlay === undefined ? visible(rest) : [first, compacted, recent, rest].flatMap((section) => visible(section))
}

/**
 * What is sent of one history that grows: as {@link deriveView}, with a line of the runtime between a summary or memo and an answer right behind it.
 *
 * **Contract**: messages that were only added are added to what was derived before, so a turn costs what is new. Messages that were looked at
 * are not taken out of the list, and not replaced in it.
 */
export class GrowingView {
  #messages: readonly AgentMessage[] = []
  #length = 0
  #state: ContextState | undefined
  #view: readonly AgentMessage[] = []

  /** The view of `messages`; the same list where nothing has changed. */
  of(messages: readonly AgentMessage[], state: ContextState | undefined): readonly AgentMessage[] {
    if (state === undefined) return messages
    if (messages === this.#messages && state === this.#state && messages.length >= this.#length) {
      const added = messages.slice(this.#length)
      if (added.length === 0) return this.#view
      if (!isPlain(added)) this.#view = bridged(deriveView(messages, state))
      // Where nothing was left out or put in, the view is the history itself, and has grown with it.
      else if (this.#view !== messages) this.#view = [...this.#view, ...bridged(added, this.#view.findLast(isLlmMessage))]
    } else this.#view = bridged(deriveView(messages, state))
    this.#messages = messages
    this.#length = messages.length
    this.#state = state
    return this.#view
  }
}

/** Whether these can only stand at the end: a result that came late goes where its call went, a tag says what was abandoned. */
function isPlain(added: readonly AgentMessage[]): boolean {
  const calls = new Set<string>()
  for (const message of added) {
    if (message.role === 'assistant') for (const { id } of callsToAnswer(message.content)) calls.add(id)
    if (message.role === 'toolResult' && !calls.has(message.toolCallId)) return false
    if (message.role !== 'extension' && message.tags !== undefined) return false
  }
  return true
}

/** The messages an overlay stands for, section by section, before anything is hidden. Without an overlay everything is `rest`. */
export interface ExpandedOverlay {
  first: readonly AgentMessage[]
  compacted: readonly AgentMessage[]
  recent: readonly AgentMessage[]
  /** What came after the overlay was made. */
  rest: readonly AgentMessage[]
}

/**
 * Puts an overlay over a history. Of the history only the `keepFirst` messages and those after the overlay are read: what lies between may
 * be gone from memory.
 */
export function expandOverlay(messages: readonly AgentMessage[], overlay: CompactionOverlay | undefined): ExpandedOverlay {
  if (overlay === undefined) return { first: [], compacted: [], recent: [], rest: messages }
  const { keepFirst, keepCompacted, keepRecent } = overlay
  const first = keepFirst === undefined ? [] : (between(messages, keepFirst) ?? [])
  const { lastId } = keepRecent?.range ?? keepCompacted.range
  let end = messages.findLastIndex((message) => message.id === lastId)
  if (end === -1) end = messages.findLastIndex((message) => message.id === keepFirst?.lastId)
  return { first, compacted: keepCompacted.messages, recent: keepRecent?.messages ?? [], rest: messages.slice(end + 1) }
}

/** The messages of a span, or `undefined` when they are not all in `messages`. */
export function between(messages: readonly AgentMessage[], { firstId, lastId }: TurnSpan): readonly AgentMessage[] | undefined {
  const from = messages.findIndex((message) => message.id === firstId)
  const to = messages.findLastIndex((message) => message.id === lastId)
  return from === -1 || to < from ? undefined : messages.slice(from, to + 1)
}

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
    memo = standIn(`[Pruned context summary: ${record.memo}]`, { id: record.id, timestamp: record.at })
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
