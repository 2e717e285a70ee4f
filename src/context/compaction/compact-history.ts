import type { CompactionOverlay, ContextState } from '../../contract/context/context-change.ts'
import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, now } from '../../contract/message/message.ts'
import { compactionTrigger, minRoomShare, type ResolvedContext } from '../tokens/context-limits.ts'
import { totalTokens } from '../tokens/estimate.ts'
import type { PromptSize } from '../tokens/prompt-size.ts'
import { defaultSections, type SectionInput, type Sections, sectionTokens } from './default-sections.ts'
import { hasMiddle, middleOf, outlineOf, sized, spanAcross, splitFor } from './outline.ts'
import { ownParts, type StrategyOptions, strategySections } from './strategy-sections.ts'

/** Share of the available tokens that a compaction leaves in use: low enough not to compact again in the next turn. */
const targetShare = 0.75

/**
 * Returns the target of a compaction in estimated message tokens.
 *
 * **Contract**: the target is a share of the message room, the tokens that the compaction trigger leaves for messages. `due`: three
 * quarters of the room. `overflow` (the provider rejected the prompt as too long): also at most half of the messages. `asked` (a requested
 * compaction): the whole room. Scales the room down if the provider counts more tokens than the estimate.
 */
export function compactionTarget(context: ResolvedContext, size: PromptSize, cause: 'due' | 'overflow' | 'asked'): number {
  const { messageTokens, promptTokens } = size
  const scale = Math.min(1, messageTokens / Math.max(1, promptTokens - context.systemPromptTokens))
  const room = messageRoom(context) * scale
  if (cause === 'asked') return Math.floor(Math.min(room, messageTokens))
  const target = Math.floor(room * targetShare)
  return cause === 'due' ? target : Math.min(target, Math.floor(messageTokens / 2))
}

/** Minimum target. Applies even if the system prompt is longer than the window: the provider then reports that the prompt is too long. */
function messageRoom(context: ResolvedContext): number {
  const usable = compactionTrigger(context)
  return Math.max(usable - context.systemPromptTokens, usable * minRoomShare)
}

/** Input of a compaction plan. */
export interface PlanInput {
  /** The history. Messages before an earlier overlay may be missing. */
  messages: readonly AgentMessage[]
  state: ContextState
  /** The messages that are sent now. */
  view: readonly AgentMessage[]
  context: ResolvedContext
  /** The loop that compacts. */
  loopId: string
  /** The target in tokens. */
  targetTokens: number
  /** Compacts even if the target is already met. */
  force: boolean
}

/** A compaction that changes something. */
export interface CompactionPlan extends SectionInput {
  loopId: string
  /** Tokens of the current messages, without the additions made by rendering. */
  tokens: number
  /** Result of the default strategy, if it is smaller. */
  byDefault: Sections | undefined
  isCustom: boolean
}

/**
 * Plans a compaction. `undefined` if the target is already met (unless forced), or nothing can shrink.
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
  // Additions made by rendering count against the target. If the target is already met, the result only has to be smaller.
  const share = Math.min(1, tokens / Math.max(1, viewTokens))
  const target = isOver ? Math.floor(targetTokens * share) : tokens + compaction.maxSummaryTokens
  const sections: SectionInput = { outline, context, target, isOver }
  const found = defaultSections(sections)
  if (found === undefined) return undefined
  const byDefault = sectionTokens(sections, found) < tokens ? found : undefined
  const split = splitFor(outline, compaction.keepFirstTurns, compaction)
  const middle = middleOf(outline, split)
  // Call a strategy if there are messages in the middle, or if the recent turns alone are too long.
  const isWorthAsking = outline.parts.length > 1 && (hasMiddle(outline, split, compaction) || found.split.recent < split.recent)
  const isCustom = isWorthAsking && ownParts(compaction.strategy).length > 0
  if (byDefault === undefined && !(isCustom && middle.some((part) => part !== outline.parts[outline.earlier]))) return undefined
  return { ...sections, loopId, tokens, byDefault, isCustom }
}

/**
 * Executes a plan with the configured strategy. Resolves with `undefined` if the result is not smaller.
 *
 * **Contract**
 * - Pure except for ids and times: the caller applies the overlay. Messages are not changed. Shortened copies keep their ids.
 * - The result meets the plan's target if the current turn does.
 * - Rejects only with the signal's reason. If a strategy throws, `compactionStrategyFailed` is logged, and the default strategy runs.
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
