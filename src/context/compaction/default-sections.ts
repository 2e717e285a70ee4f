import type { AgentMessage } from '../../contract/message/message.ts'
import type { ResolvedContext } from '../tokens/context-limits.ts'
import { totalTokens } from '../tokens/estimate.ts'
import { summariesWithin } from './default-compaction.ts'
import { fittingSplit, freeTokens, hasMiddle, type SizedOutline, type Split, splitFor } from './outline.ts'
import { middleTurns } from './scope.ts'
import { markerTokens, middleMarker, olderMarker } from './summary-lines.ts'
import { cutToolOutputsToFit } from './tool-output.ts'

/** What is sent of an outline. */
export interface Sections {
  split: Split
  /** Instead of the parts in the middle. */
  compacted: readonly AgentMessage[]
  /** Instead of the last parts. */
  recent: readonly AgentMessage[]
  loops: number
}

/** What sections are made of. */
export interface SectionInput {
  outline: SizedOutline
  context: ResolvedContext
  /** Tokens that all sections together may have. */
  target: number
  /** Whether more than that is sent now. */
  isOver: boolean
}

/**
 * What the default strategy makes of a history, the mildest that reaches the target: tool outputs cut, then the middle in one line per
 * answer, then without it, then with fewer recent turns and none from the beginning; last of all, the outputs of the present turn are cut
 * as short as need be. `undefined` where nothing has come since the last compaction.
 *
 * **Contract**: the present turn stays, so the result fits the target only if that turn does.
 *
 * Source: docs/concepts/context.md
 */
export function defaultSections(input: SectionInput): Sections | undefined {
  const { outline, context, target, isOver } = input
  const { compaction, counter } = context
  if (outline.parts.length === 1) return presentTurnOnly(input)
  if (outline.maxRecent === 0) return undefined
  const asked = splitFor(outline, compaction.keepFirstTurns, compaction)
  const isMiddleKept = isOver ? cutTokens(outline, asked) <= target : !hasMiddle(outline, asked, compaction)
  if (isMiddleKept) {
    const { loops } = middleTurns(outline, asked, context)
    return { split: asked, loops, compacted: middleCut(outline, asked), recent: recentCut(outline, asked) }
  }
  const reserve = markerTokens(counter)
  const split = isOver ? fittingSplit(outline, asked, target, reserve) : asked
  const recent = recentWithin(input, split, reserve)
  const room = freeTokens(outline, { ...split, recent: 0 }, target) - totalTokens(recent, counter)
  return { split, recent, ...compactedWithin(input, split, { room, asked }) }
}

/** The recent turns with tool outputs cut; where only the present one is kept, until `reserve` tokens are left beside it. */
export function recentWithin({ outline, context, target }: SectionInput, split: Split, reserve: number): AgentMessage[] {
  if (split.recent > 1 || freeTokens(outline, split, target) >= reserve) return recentCut(outline, split)
  return presentTurnCut(outline, freeTokens(outline, { ...split, recent: 0 }, target) - reserve, context)
}

/** The middle, a line per answer, in at most `room` tokens. `asked` is the split without regard to room. */
export function compactedWithin(
  { outline, context }: SectionInput,
  split: Split,
  { room, asked }: { room: number; asked: Split },
): { compacted: AgentMessage[]; loops: number } {
  const { counter, compaction } = context
  const { turns, removed, loops } = middleTurns(outline, split, context)
  const marker = split.first < asked.first || split.recent < asked.recent ? olderMarker : middleMarker
  const maxTokens = Math.min(compaction.maxSummaryTokens, room)
  return { loops, compacted: summariesWithin(turns, { maxTokens, removed, marker, counter }) }
}

/** Tokens of sections. */
export function sectionTokens({ outline, context }: SectionInput, { split, compacted, recent }: Sections): number {
  const { counter } = context
  const first = outline.tokens.slice(0, split.first).reduce((sum, each) => sum + each, 0)
  return first + totalTokens(compacted, counter) + totalTokens(recent, counter)
}

function presentTurnOnly({ outline, context, target }: SectionInput): Sections {
  return { split: { first: 0, recent: 0 }, loops: 1, compacted: presentTurnCut(outline, target, context), recent: [] }
}

function presentTurnCut(outline: SizedOutline, maxTokens: number, { compaction, counter }: ResolvedContext): AgentMessage[] {
  const messages = outline.parts.at(-1)?.messages ?? []
  return cutToolOutputsToFit(messages, { maxTokens, maxLines: compaction.toolOutputMaxLines, counter })
}

function cutTokens(outline: SizedOutline, { first }: Split): number {
  const kept = outline.tokens.slice(0, first)
  return [...kept, ...outline.cutTokens.slice(first)].reduce((sum, each) => sum + each, 0)
}

function recentCut({ cut, parts }: SizedOutline, { recent }: Split): AgentMessage[] {
  return cut.slice(parts.length - recent).flat()
}

function middleCut({ cut, parts }: SizedOutline, { first, recent }: Split): AgentMessage[] {
  return cut.slice(first, parts.length - recent).flat()
}
