import { ConfigError } from '../../contract/errors.ts'
import { definedFields } from '../../contract/json.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import type { CompactionConfig, ContextConfig, TokenCounter } from '../../types/context/compaction.ts'
import { heuristicTokenCounter } from './estimate.ts'

/** A conversation's default limits. */
export const defaultCompactionConfig = {
  compactAtPct: 0.9,
  compactBudgetThresholdPct: 0.05,
  scope: { type: 'fixedCount', count: 3 },
  keepFirstTurns: 2,
  keepRecentTurns: 10,
  maxSummaryTokens: 2000,
  toolOutputMaxLines: 50,
} as const satisfies CompactionConfig

/** Maximum tokens of the window reserved for the response: models can write far more, but rarely do. */
const maxAnswerRoom = 32_000
/** Context window of an unknown model. */
const defaultMaxTokens = 100_000
/** Tokens reserved for system prompt and tools. */
export const defaultSystemPromptTokens = 4000
/** Share of a small window reserved for system prompt and tools by default. */
const systemPromptShare = 0.2
/** Minimum share left for the conversation, so that a compaction keeps some of it. */
export const minRoomShare = 0.05

/** A `ContextConfig` with all defaults. */
export interface ResolvedContext {
  maxContextTokens: number
  systemPromptTokens: number
  counter: TokenCounter
  compaction: CompactionConfig
}

/** Context window of a model, and tokens of its longest response. 0 if unknown. */
export type ModelLimits = Pick<ModelConfig, 'contextWindow' | 'maxTokens'>

/** System prompt and tools, which are sent with the messages. */
export interface PromptHead {
  systemPrompt: string
  tools?: readonly ToolDefinition[]
}

/**
 * Adds defaults. `undefined` if nothing is ever compacted.
 *
 * **Contract**
 * - `maxContextTokens` is that of {@link contextLimitOf}.
 * - `systemPromptTokens` is 4,000, in a small window a fifth of it, and at least the size of `head`.
 *
 * Source: docs/concepts/context.md
 */
export function resolveContext(
  config: Partial<ContextConfig> | false = {},
  model: ModelLimits,
  head: PromptHead = { systemPrompt: '' },
): ResolvedContext | undefined {
  if (config === false || config.compaction === false) return undefined
  const counter = config.tokenCounter ?? heuristicTokenCounter
  const maxContextTokens = config.maxContextTokens ?? contextLimitOf(model)
  const reserve = config.systemPromptTokens ?? defaultReserve(maxContextTokens)
  return {
    maxContextTokens,
    systemPromptTokens: Math.max(reserve, headTokens(head, counter)),
    counter,
    compaction: { ...defaultCompactionConfig, ...definedFields(config.compaction) },
  }
}

/**
 * Throws `ConfigError` `invalidOption` for a configuration whose compactions would leave nothing of the conversation. Call it before a run
 * exists.
 */
export function checkContextConfig(config: Partial<ContextConfig> | false | undefined, model: ModelLimits): void {
  const context = resolveContext(config, model)
  if (context === undefined) return
  const { maxContextTokens, systemPromptTokens } = context
  const usable = compactionTrigger(context)
  const room = usable - systemPromptTokens
  if (room >= Math.max(1, usable * minRoomShare)) return
  throw new ConfigError(
    'invalidOption',
    `contextConfig leaves no room for a conversation: systemPromptTokens is ${systemPromptTokens}, and of maxContextTokens (${maxContextTokens}) ` +
      `${usable} may be used (compactAtPct less compactBudgetThresholdPct). Every turn would drop all messages. ` +
      'Lower systemPromptTokens, or raise maxContextTokens.',
  )
}

/** Returns the prompt size in tokens (system prompt, tools, messages) that triggers a compaction. */
export function compactionTrigger({ maxContextTokens, compaction }: ResolvedContext): number {
  const share = compaction.compactAtPct - compaction.compactBudgetThresholdPct
  // Shares are decimal fractions: a binary rounding error must not cost a token.
  return Math.floor(maxContextTokens * share + 1e-6)
}

/**
 * Returns the prompt size in tokens that triggers a compaction with this `contextConfig` and model, for displays. `undefined` if never.
 *
 * Source: docs/concepts/context.md
 */
export function compactsAt(config: Partial<ContextConfig> | false | undefined, model: ModelLimits): number | undefined {
  const context = resolveContext(config, model)
  return context && compactionTrigger(context)
}

/**
 * Returns the default of `maxContextTokens`: the window minus the output limit, or 100,000 for an unknown window. The output limit
 * counts as at most 32,000 tokens, and at most half of the window. Source: docs/concepts/context.md
 */
export function contextLimitOf({ contextWindow, maxTokens }: ModelLimits): number {
  if (!(contextWindow > 0 && Number.isFinite(contextWindow))) return defaultMaxTokens
  const output = maxTokens > 0 ? Math.min(maxTokens, maxAnswerRoom, contextWindow / 2) : 0
  return Math.floor(contextWindow - output)
}

function defaultReserve(maxContextTokens: number): number {
  return Math.min(defaultSystemPromptTokens, Math.floor(maxContextTokens * systemPromptShare))
}

function headTokens({ systemPrompt, tools = [] }: PromptHead, counter: TokenCounter): number {
  let tokens = systemPrompt === '' ? 0 : counter.text(systemPrompt)
  for (const tool of tools) tokens += counter.text(JSON.stringify(tool))
  return tokens
}
