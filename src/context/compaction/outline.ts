import type { ContextState, TurnSpan } from '../../contract/context/context-change.ts'
import { type AgentMessage, callsToAnswer, isLlmMessage } from '../../contract/message/message.ts'
import type { CompactionConfig, TokenCounter } from '../../types/context/compaction.ts'
import { totalTokens } from '../tokens/estimate.ts'
import { between, expandOverlay, visibleIn } from '../view/derive-view.ts'
import { isAnswer, isStandIn } from '../view/stand-in.ts'
import { turnsOf } from '../view/turns.ts'
import { cutToolOutputs } from './tool-output.ts'

/** A part of the history, and the messages sent for it. */
export interface Part {
  span: TurnSpan
  messages: readonly AgentMessage[]
}

/**
 * Divides a history for compaction: one part per turn, and one for turns that an earlier compaction replaced. The last part is the current turn,
 * with everything since a call that waits for its result.
 */
export interface Outline {
  parts: readonly Part[]
  /** Index of the earlier summaries, or -1 if there are none. */
  earlier: number
  /** Maximum number of unchanged parts at the start. */
  maxFirst: number
  /** Maximum number of unchanged parts at the end. */
  maxRecent: number
}

type Visible = (messages: readonly AgentMessage[]) => readonly AgentMessage[]

/** Divides the messages sent for a history. Messages before an earlier overlay may be missing. */
export function outlineOf(messages: readonly AgentMessage[], state: ContextState): Outline {
  const { overlay } = state
  const expanded = expandOverlay(messages, overlay)
  const visible = visibleIn(expanded, state)
  const first = partsOf(expanded.first, visible)
  if (overlay?.keepRecent === undefined) {
    // If there are no recent turns, the compacted part is the current turn, which may have continued.
    const section = overlay && { range: overlay.keepCompacted.range, sent: expanded.compacted }
    const later = joinEnd(section === undefined ? partsOf(expanded.rest, visible) : partsAfter(messages, section, expanded.rest, visible))
    const parts = [...first, ...later]
    const unchanged = overlay === undefined ? parts.length : first.length
    return { parts, earlier: -1, maxFirst: Math.max(0, Math.min(unchanged, parts.length - 2)), maxRecent: parts.length - 1 }
  }
  const summaries = { span: overlay.keepCompacted.range, messages: visible(expanded.compacted) }
  const section = { range: overlay.keepRecent.range, sent: expanded.recent }
  const later = joinEnd(partsAfter(messages, section, expanded.rest, visible))
  return { parts: [...first, summaries, ...later], earlier: first.length, maxFirst: first.length, maxRecent: later.length }
}

function partsOf(messages: readonly AgentMessage[], visible: Visible): Part[] {
  return turnsOf(messages).map((turn) => ({ span: spanOf(turn), messages: visible(turn) }))
}

/**
 * Returns the turns of the last section of an overlay and later ones. Their bounds are messages of the history if present, never a memo.
 * The sent messages are the copies.
 */
function partsAfter(
  messages: readonly AgentMessage[],
  section: { range: TurnSpan; sent: readonly AgentMessage[] },
  rest: readonly AgentMessage[],
  visible: Visible,
): Part[] {
  const sent = [...section.sent, ...rest]
  const originals = between(messages, section.range) ?? section.sent.filter((message) => !isStandIn(message))
  const turns = turnsOf([...originals, ...rest])
  if (turns.length === 0) return partsOf(sent, visible)
  const turnAt = new Map(turns.flatMap((turn, at) => turn.map((message) => [message.id, at] as const)))
  const sentOf: AgentMessage[][] = turns.map(() => [])
  let at = 0
  for (const message of sent) {
    // Messages inserted by a strategy or a prune follow their predecessor.
    at = turnAt.get(message.id) ?? at
    sentOf[at]?.push(message)
  }
  return turns.map((turn, index) => ({ span: spanOf(turn), messages: visible(sentOf[index] ?? []) }))
}

/**
 * Joins the last parts if the last one alone is not the current turn: from the last response if one of its calls has no result, which must
 * still find its call; and with parts that send nothing, as after a revert.
 */
function joinEnd(parts: readonly Part[]): readonly Part[] {
  const sent = joinedFrom(
    parts,
    parts.findLastIndex((part) => part.messages.some(isLlmMessage)),
  )
  const at = sent.findLastIndex((part) => part.messages.some(isAnswer))
  const answer = sent[at]
  return answer !== undefined && hasOpenCall(answer.messages) ? joinedFrom(sent, at) : sent
}

function joinedFrom(parts: readonly Part[], at: number): readonly Part[] {
  if (at < 0 || at === parts.length - 1) return parts
  const joined = parts.slice(at)
  return [...parts.slice(0, at), { span: spanAcross(joined), messages: joined.flatMap((part) => part.messages) }]
}

function hasOpenCall(messages: readonly AgentMessage[]): boolean {
  const answered = new Set(messages.map((message) => (message.role === 'toolResult' ? message.toolCallId : undefined)))
  const answer = messages.findLast(isAnswer)
  return answer !== undefined && callsToAnswer(answer.content).some((call) => !answered.has(call.id))
}

/** Joins the parts from the first to the last. Throws `RangeError` without parts, because a section is never empty. */
export function spanAcross(parts: readonly Part[]): TurnSpan {
  const first = parts[0]
  const last = parts.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('A span needs at least one turn.')
  return { firstId: first.span.firstId, lastId: last.span.lastId, turns: parts.reduce((sum, part) => sum + part.span.turns, 0) }
}

function spanOf(turn: readonly AgentMessage[]): TurnSpan {
  return { firstId: turn[0]?.id ?? '', lastId: turn.at(-1)?.id ?? '', turns: 1 }
}

/** Number of parts to retain at the start and at the end. A compaction replaces the parts in between. */
export interface Split {
  first: number
  recent: number
}

/** An outline with token counts, unchanged and with cut tool outputs. */
export interface SizedOutline extends Outline {
  /** Tokens of each unchanged part. */
  tokens: readonly number[]
  /** Each part with cut tool outputs. */
  cut: readonly (readonly AgentMessage[])[]
  cutTokens: readonly number[]
}

/** Measures an outline. */
export function sized(outline: Outline, toolOutputMaxLines: number, counter: TokenCounter): SizedOutline {
  const cut = outline.parts.map((part) => cutToolOutputs(part.messages, toolOutputMaxLines))
  return {
    ...outline,
    tokens: outline.parts.map((part) => totalTokens(part.messages, counter)),
    cut,
    cutTokens: cut.map((messages) => totalTokens(messages, counter)),
  }
}

/** Returns the split for `keepFirst` and the configuration. Leaves at least one part in between and, if possible, retains the last part. */
export function splitFor(outline: Outline, keepFirst: number, { keepRecentTurns }: CompactionConfig): Split {
  const first = Math.min(wholeNumber(keepFirst), outline.maxFirst)
  const room = outline.earlier >= 0 ? outline.maxRecent : Math.max(0, outline.maxRecent - first)
  return { first, recent: Math.min(Math.max(1, wholeNumber(keepRecentTurns)), room) }
}

/** Returns whether there are more turns than the split keeps. */
export function hasMiddle(outline: Outline, { first }: Split, { keepRecentTurns }: CompactionConfig): boolean {
  return outline.earlier >= 0 || first + Math.max(1, wholeNumber(keepRecentTurns)) < outline.parts.length
}

/**
 * Returns `split`, or a smaller one, that leaves `reserve` of `target` tokens: first the parts at the start shrink to half of the target, then
 * the recent ones become fewer, from the oldest, and finally nothing at the start stays. If that is still too much, only the last part
 * stays.
 */
export function fittingSplit(outline: SizedOutline, split: Split, target: number, reserve: number): Split {
  if (freeTokens(outline, split, target) >= reserve) return split
  const first = fittingFirst(outline, split.first, target)
  for (const kept of first === 0 ? [0] : [first, 0]) {
    let free = freeTokens(outline, { first: kept, recent: split.recent }, target)
    for (let recent = split.recent; recent > 0; recent -= 1) {
      if (free >= reserve) return { first: kept, recent }
      free += outline.cutTokens[outline.parts.length - recent] ?? 0
    }
  }
  return { first: 0, recent: Math.min(1, split.recent) }
}

/** Returns how many of the `first` parts fit into half of the target. */
export function fittingFirst(outline: SizedOutline, first: number, target: number): number {
  let fitting = 0
  for (let tokens = 0; fitting < first; fitting += 1) {
    tokens += outline.tokens[fitting] ?? 0
    if (tokens > target / 2) break
  }
  return fitting
}

/** Returns how many tokens of `target` remain in addition to the retained parts. Tool outputs at the end count as truncated. */
export function freeTokens(outline: SizedOutline, { first, recent }: Split, target: number): number {
  return target - sum(outline.tokens.slice(0, first)) - sum(outline.cutTokens.slice(outline.parts.length - recent))
}

/** Returns the parts to compact. */
export function middleOf(outline: Outline, { first, recent }: Split): readonly Part[] {
  return outline.parts.slice(first, outline.parts.length - recent)
}

function wholeNumber(value: number): number {
  return Math.max(0, Math.trunc(value) || 0)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
