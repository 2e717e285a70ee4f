import type { TurnSpan } from '../../types/compaction.ts'
import type { ContextState } from '../../types/context-change.ts'
import { type AgentMessage, isLlmMessage, toolCallsOf } from '../../types/message.ts'
import { turnsOf } from '../turns.ts'
import { visibleIn } from '../visible-messages.ts'
import { between, type ExpandedOverlay, expandOverlay } from './expand-overlay.ts'

/** A stretch of the history, and what is sent of it. */
export interface Part {
  span: TurnSpan
  messages: readonly AgentMessage[]
}

/**
 * A history as compaction sees it: one part per turn, and one for what an earlier compaction made of the turns in its middle. The last part is
 * the present turn, together with everything since a call that still waits for its result.
 */
export interface Outline {
  parts: readonly Part[]
  /** Position of the earlier summaries; -1 without any. */
  earlier: number
  /** How many parts at the beginning may stay as they are. */
  maxFirst: number
  /** How many parts at the end may stay. */
  maxRecent: number
}

type Visible = (messages: readonly AgentMessage[]) => readonly AgentMessage[]

/** Outlines what is sent of a history. Messages behind an earlier overlay need not be there. */
export function outlineOf(messages: readonly AgentMessage[], state: ContextState): Outline {
  const { overlay } = state
  const expanded = expandOverlay(messages, overlay)
  const visible = visibleIn(expanded, state)
  const first = partsOf(expanded.first, visible)
  if (overlay?.keepRecent === undefined) {
    // Without recent turns, what was compacted is the present turn itself, and it may have gone on.
    const later = joinEnd(partsOf([...expanded.compacted, ...expanded.rest], visible))
    const parts = [...first, ...later]
    const unchanged = overlay === undefined ? parts.length : first.length
    return { parts, earlier: -1, maxFirst: Math.max(0, Math.min(unchanged, parts.length - 2)), maxRecent: parts.length - 1 }
  }
  const summaries = { span: overlay.keepCompacted.range, messages: visible(expanded.compacted) }
  const later = joinEnd(partsAfter(messages, overlay.keepRecent.range, expanded, visible))
  return { parts: [...first, summaries, ...later], earlier: first.length, maxFirst: first.length, maxRecent: later.length }
}

function partsOf(messages: readonly AgentMessage[], visible: Visible): Part[] {
  return turnsOf(messages).map((turn) => ({ span: spanOf(turn), messages: visible(turn) }))
}

/** The turns after the middle of an overlay: their bounds are those of the history, as far as it is there; what is sent are the copies. */
function partsAfter(messages: readonly AgentMessage[], range: TurnSpan, expanded: ExpandedOverlay, visible: Visible): Part[] {
  const sent = [...expanded.recent, ...expanded.rest]
  const originals = between(messages, range)
  if (originals === undefined) return partsOf(sent, visible)
  const turns = turnsOf([...originals, ...expanded.rest])
  const turnAt = new Map(turns.flatMap((turn, at) => turn.map((message) => [message.id, at] as const)))
  const sentOf: AgentMessage[][] = turns.map(() => [])
  let at = 0
  for (const message of sent) {
    // What a strategy or a prune put in stays behind the message it follows.
    at = turnAt.get(message.id) ?? at
    sentOf[at]?.push(message)
  }
  return turns.map((turn, index) => ({ span: spanOf(turn), messages: visible(sentOf[index] ?? []) }))
}

/**
 * Joins the last parts where the last alone is not the present turn: from the last answer on, when a call in it has no result, for that may
 * still come and must find its call; and with those of which nothing is sent, as after a revert, for something must be.
 */
function joinEnd(parts: readonly Part[]): readonly Part[] {
  const sent = joinedFrom(
    parts,
    parts.findLastIndex((part) => part.messages.some(isLlmMessage)),
  )
  const at = sent.findLastIndex((part) => part.messages.some((message) => message.role === 'assistant'))
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
  const answer = messages.findLast((message) => message.role === 'assistant')
  return answer?.role === 'assistant' && toolCallsOf(answer.content).some((call) => !answered.has(call.id))
}

/** From the first of these parts to the last. Throws `RangeError` when there are none: a section is never empty. */
export function spanAcross(parts: readonly Part[]): TurnSpan {
  const first = parts[0]
  const last = parts.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('A span needs at least one turn.')
  return { firstId: first.span.firstId, lastId: last.span.lastId, turns: parts.reduce((sum, part) => sum + part.span.turns, 0) }
}

function spanOf(turn: readonly AgentMessage[]): TurnSpan {
  return { firstId: turn[0]?.id ?? '', lastId: turn.at(-1)?.id ?? '', turns: 1 }
}
