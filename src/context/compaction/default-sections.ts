import type { AgentMessage } from '../../contract/message/message.ts'
import type { ResolvedContext } from '../tokens/context-limits.ts'
import { totalTokens } from '../tokens/estimate.ts'
import { summariesWithin } from './default-compaction.ts'
import { fittingSplit, freeTokens, hasMiddle, type SizedOutline, type Split, splitFor } from './outline.ts'
import { middleTurns } from './scope.ts'
import { markerTokens, middleMarker, olderMarker } from './summary-lines.ts'
import { cutToolOutputsToFit } from './tool-output.ts'

/** The sections of a compacted history. */
export interface Sections {
  split: Split
  /** Replaces the middle parts. */
  compacted: readonly AgentMessage[]
  /** Replaces the last parts. */
  recent: readonly AgentMessage[]
  loops: number
}

/** Input for the sections. */
export interface SectionInput {
  outline: SizedOutline
  context: ResolvedContext
  /** Maximum tokens of all sections. */
  target: number
  /** Whether the current messages exceed this maximum. */
  isOver: boolean
}

/**
 * Compacts by the default strategy with the mildest sufficient step: cut tool outputs, then one line per response in the middle, then drop the
 * middle, then keep fewer recent turns and none of the first. Finally, cut the current turn's tool outputs as short as needed. Returns
 * `undefined` if nothing has been added since the last compaction.
 *
 * **Contract**: the current turn stays, so the result meets the target only if that turn does.
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

/** Returns the recent turns with cut tool outputs. If only the current turn remains, cuts its outputs until `reserve` tokens are left. */
export function recentWithin({ outline, context, target }: SectionInput, split: Split, reserve: number): AgentMessage[] {
  if (split.recent > 1 || freeTokens(outline, split, target) >= reserve) return recentCut(outline, split)
  return presentTurnCut(outline, freeTokens(outline, { ...split, recent: 0 }, target) - reserve, context)
}

/**
 * Summarizes the middle with one line per response, in at most `room` tokens. `asked` is the configured split, before it is fitted to the
 * target.
 */
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

/** Counts the tokens of sections. */
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
