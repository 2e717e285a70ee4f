import type { CompactionOverlay, ContextState, PruneRecord, TurnSpan } from '../../contract/context/context-change.ts'
import { type AgentMessage, callsToAnswer, isLlmMessage, type LlmMessage } from '../../contract/message/message.ts'
import { abandonedIds } from '../prune-revert/revert.ts'
import { bridged, standIn } from './stand-in.ts'

/**
 * Returns the messages to send for a history. The compaction overlay replaces its part, memos of prunes are inserted, and pruned and
 * abandoned messages are dropped.
 *
 * **Contract**
 * - Changes nothing in place. Unchanged messages keep their identity, and inserted ones are the same objects at each call. Encoded forms
 *   and token counts can therefore be reused.
 * - A history without changes is returned itself.
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
 * Derives the view of one growing history, like {@link deriveView}, with a runtime line between a summary or memo and a directly following response.
 *
 * **Contract**: appended messages are added to the previous view, so a turn costs only its new messages. Processed messages must not be removed or
 * replaced in the list.
 */
export class GrowingView {
  #messages: readonly AgentMessage[] = []
  #length = 0
  #state: ContextState | undefined
  #view: readonly AgentMessage[] = []

  /** Returns the view of `messages`. Returns the same list if unchanged. */
  of(messages: readonly AgentMessage[], state: ContextState | undefined): readonly AgentMessage[] {
    if (state === undefined) return messages
    if (messages === this.#messages && state === this.#state && messages.length >= this.#length) {
      const added = messages.slice(this.#length)
      if (added.length === 0) return this.#view
      if (!isPlain(added)) this.#view = bridged(deriveView(messages, state))
      // Without dropped or inserted messages, the view is the history itself, and has grown with it.
      else if (this.#view !== messages) this.#view = [...this.#view, ...bridged(added, this.#view.findLast(isLlmMessage))]
    } else this.#view = bridged(deriveView(messages, state))
    this.#messages = messages
    this.#length = messages.length
    this.#state = state
    return this.#view
  }
}

/** Returns whether these messages can only be at the end: a late result goes to its call, and a tag defines what was abandoned. */
function isPlain(added: readonly AgentMessage[]): boolean {
  const calls = new Set<string>()
  for (const message of added) {
    if (message.role === 'assistant') for (const { id } of callsToAnswer(message.content)) calls.add(id)
    if (message.role === 'toolResult' && !calls.has(message.toolCallId)) return false
    if (message.role !== 'extension' && message.tags !== undefined) return false
  }
  return true
}

/** Messages of an overlay by section, before anything is hidden. Without an overlay, everything is in `rest`. */
export interface ExpandedOverlay {
  first: readonly AgentMessage[]
  compacted: readonly AgentMessage[]
  recent: readonly AgentMessage[]
  /** Messages after the overlay. */
  rest: readonly AgentMessage[]
}

/**
 * Applies an overlay to a history. Reads only the `keepFirst` messages and those after the overlay. The messages in between may no longer
 * be in memory.
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

/** Returns the messages of a span, or `undefined` if some are missing in `messages`. */
export function between(messages: readonly AgentMessage[], { firstId, lastId }: TurnSpan): readonly AgentMessage[] | undefined {
  const from = messages.findIndex((message) => message.id === firstId)
  const to = messages.findLastIndex((message) => message.id === lastId)
  return from === -1 || to < from ? undefined : messages.slice(from, to + 1)
}

const memos = new WeakMap<PruneRecord, LlmMessage>()

/**
 * Returns a function that drops pruned or abandoned messages from a part of `expanded`, and inserts the memo of each prune at its earliest
 * message. It returns the same list if nothing changes, and the same memo each time.
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

/** Memos by the message that they replace. */
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
 * Returns the earliest of `ids`. `undefined` if a later compaction includes the memo: some of the messages are missing then, and none of the
 * others precedes the compacted part.
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
