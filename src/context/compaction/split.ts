import type { CompactionConfig, TokenCounter } from '../../types/compaction.ts'
import type { AgentMessage } from '../../types/message.ts'
import { totalTokens } from '../tokens.ts'
import type { Outline, Part } from './outline.ts'
import { cutToolOutputs } from './tool-output.ts'

/** How many parts of an outline stay at its beginning and at its end; those between are compacted. */
export interface Split {
  first: number
  recent: number
}

/** An outline with its sizes in tokens, as it is and with tool outputs cut. */
export interface SizedOutline extends Outline {
  /** Tokens of each part as it is. */
  tokens: readonly number[]
  /** Each part with long tool outputs cut. */
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

/** The split that `keepFirst` and the configuration ask for, with at least one part between and, if possible, the last one kept. */
export function splitFor(outline: Outline, keepFirst: number, { keepRecentTurns }: CompactionConfig): Split {
  const first = Math.min(wholeNumber(keepFirst), outline.maxFirst)
  const room = outline.earlier >= 0 ? outline.maxRecent : Math.max(0, outline.maxRecent - first)
  return { first, recent: Math.min(Math.max(1, wholeNumber(keepRecentTurns)), room) }
}

/** Whether more turns are there than are to be kept. */
export function hasMiddle(outline: Outline, { first }: Split, { keepRecentTurns }: CompactionConfig): boolean {
  return outline.earlier >= 0 || first + Math.max(1, wholeNumber(keepRecentTurns)) < outline.parts.length
}

/**
 * `split`, or a smaller one, that leaves `reserve` of `target` tokens free: first the parts at the beginning are brought down to half of
 * the target, then the recent ones become fewer, the newest staying, and at last nothing is kept of the beginning. When even that is too
 * much, only the last part is kept.
 */
export function fittingSplit(outline: SizedOutline, split: Split, target: number, reserve: number): Split {
  if (freeTokens(outline, split, target) >= reserve) return split
  const first = fittingFirst(outline, split.first, target)
  for (const kept of first === 0 ? [0] : [first, 0]) {
    for (let recent = split.recent; recent > 0; recent -= 1) {
      if (freeTokens(outline, { first: kept, recent }, target) >= reserve) return { first: kept, recent }
    }
  }
  return { first: 0, recent: Math.min(1, split.recent) }
}

/** How many of the `first` parts at the beginning take at most half of the target. */
export function fittingFirst(outline: SizedOutline, first: number, target: number): number {
  let fitting = first
  while (fitting > 0 && sum(outline.tokens.slice(0, fitting)) > target / 2) fitting -= 1
  return fitting
}

/** What is left of `target` beside the parts that are kept, tool outputs at the end cut. */
export function freeTokens(outline: SizedOutline, { first, recent }: Split, target: number): number {
  return target - sum(outline.tokens.slice(0, first)) - sum(outline.cutTokens.slice(outline.parts.length - recent))
}

/** The parts that are compacted. */
export function middleOf(outline: Outline, { first, recent }: Split): readonly Part[] {
  return outline.parts.slice(first, outline.parts.length - recent)
}

function wholeNumber(value: number): number {
  return Math.max(0, Math.trunc(value) || 0)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
