import type { CompactionOverlay, ContextState } from '../../contract/context/context-change.ts'
import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, now } from '../../contract/message/message.ts'
import { compactionTrigger, minRoomShare, type ResolvedContext } from '../tokens/context-limits.ts'
import { totalTokens } from '../tokens/estimate.ts'
import type { PromptSize } from '../tokens/prompt-size.ts'
import { defaultSections, type SectionInput, type Sections, sectionTokens } from './default-sections.ts'
import { hasMiddle, middleOf, outlineOf, sized, spanAcross, splitFor } from './outline.ts'
import { ownParts, type StrategyOptions, strategySections } from './strategy-sections.ts'

/** Share of the room that a compaction leaves in use: far enough below the trigger not to compact again in the next turn. */
const targetShare = 0.75

/**
 * How many tokens of messages, by our own estimate, a compaction leaves.
 *
 * **Contract**: three quarters of the room that system prompt and tools leave below the trigger. `overflow`, when the service said that the
 * prompt is too long: at most half of the messages, too. `asked`, when nothing forces it: all of the room. Where the service counts more
 * than we do, it is that much less.
 */
export function compactionTarget(context: ResolvedContext, size: PromptSize, cause: 'due' | 'overflow' | 'asked'): number {
  const { messageTokens, promptTokens } = size
  const scale = Math.min(1, messageTokens / Math.max(1, promptTokens - context.systemPromptTokens))
  const room = messageRoom(context) * scale
  if (cause === 'asked') return Math.floor(Math.min(room, messageTokens))
  const target = Math.floor(room * targetShare)
  return cause === 'due' ? target : Math.min(target, Math.floor(messageTokens / 2))
}

/** What a system prompt longer than the window leaves is not nothing: the service will say that it is too long, and that is the truth. */
function messageRoom(context: ResolvedContext): number {
  const usable = compactionTrigger(context)
  return Math.max(usable - context.systemPromptTokens, usable * minRoomShare)
}

/** What a compaction is planned from. */
export interface PlanInput {
  /** The history. What lies behind an earlier overlay need not be there. */
  messages: readonly AgentMessage[]
  state: ContextState
  /** What is sent now. */
  view: readonly AgentMessage[]
  context: ResolvedContext
  /** The loop that compacts. */
  loopId: string
  /** Tokens to come down to. */
  targetTokens: number
  /** Summarises also where no more than that is sent. */
  force: boolean
}

/** A compaction that will change something. */
export interface CompactionPlan extends SectionInput {
  loopId: string
  /** Tokens of what is sent now, without what is added when it is rendered. */
  tokens: number
  /** What the default makes of it, where that is smaller. */
  byDefault: Sections | undefined
  isCustom: boolean
}

/**
 * Plans a compaction of what is sent. `undefined` when it already fits the target (unless forced), or could not become smaller.
 *
 * Source: docs/concepts/context.md
 */
export function planCompaction(input: PlanInput): CompactionPlan | undefined {
  const { messages, state, view, context, loopId, targetTokens, force } = input
  const { compaction, counter } = context
  const viewTokens = totalTokens(view, counter)
  const isOver = viewTokens > targetTokens
  if (!isOver && !force) return undefined
  const outline = sized(outlineOf(messages, state), compaction.toolOutputMaxLines, counter)
  const tokens = outline.tokens.reduce((sum, each) => sum + each, 0)
  if (tokens === 0) return undefined
  // What rendering adds to the messages takes its share of the target. Where the target is met already, only the result must be smaller.
  const share = Math.min(1, tokens / Math.max(1, viewTokens))
  const target = isOver ? Math.floor(targetTokens * share) : tokens + compaction.maxSummaryTokens
  const sections: SectionInput = { outline, context, target, isOver }
  const found = defaultSections(sections)
  if (found === undefined) return undefined
  const byDefault = sectionTokens(sections, found) < tokens ? found : undefined
  const split = splitFor(outline, compaction.keepFirstTurns, compaction)
  const middle = middleOf(outline, split)
  // A strategy is asked where there is something in the middle, or the recent turns alone are too much.
  const isWorthAsking = outline.parts.length > 1 && (hasMiddle(outline, split, compaction) || found.split.recent < split.recent)
  const isCustom = isWorthAsking && ownParts(compaction.strategy).length > 0
  if (byDefault === undefined && !(isCustom && middle.some((part) => part !== outline.parts[outline.earlier]))) return undefined
  return { ...sections, loopId, tokens, byDefault, isCustom }
}

/**
 * Carries a plan out, with the configured strategy. Resolves with `undefined` when the result would not be smaller.
 *
 * **Contract**
 * - Pure but for ids and times: the caller puts the overlay in place. Messages are not changed; shortened copies keep their ids.
 * - The result fits the target of the plan if the present turn does.
 * - Rejects only with the signal's reason. A strategy that throws is logged as `compactionStrategyFailed`, and the default does its part.
 *
 * Source: docs/concepts/context.md
 */
export async function runCompaction(
  plan: CompactionPlan,
  options: StrategyOptions,
): Promise<{ overlay: CompactionOverlay; loopsCompacted: number } | undefined> {
  options.signal.throwIfAborted()
  const sections = plan.isCustom ? await strategySections(plan, options) : plan.byDefault
  if (sections === undefined || sectionTokens(plan, sections) >= plan.tokens) return undefined
  return { overlay: overlayOf(plan, sections), loopsCompacted: sections.loops }
}

function overlayOf({ outline, loopId }: CompactionPlan, { split, compacted, recent }: Sections): CompactionOverlay {
  const { parts } = outline
  const keepCompacted = { range: spanAcross(middleOf(outline, split)), messages: [...compacted] }
  const overlay: CompactionOverlay = { id: newId(), createdAt: now(), loopId, keepCompacted }
  if (split.first > 0) overlay.keepFirst = spanAcross(parts.slice(0, split.first))
  if (split.recent > 0) {
    overlay.keepRecent = { range: spanAcross(parts.slice(parts.length - split.recent)), messages: [...recent] }
  }
  return overlay
}
