import type { AgentOptions } from '../../agent/agent-options.ts'
import { llmCompaction } from '../../context/compaction/llm-compaction.ts'
import type { CacheStrategy } from '../../contract/model/request.ts'
import { hasRates } from '../../contract/model/usage.ts'
import type { ToolExecutionStrategy } from '../../contract/run/settings.ts'
import type { CompactionConfig, CompactionScope, ContextConfig } from '../../types/context/compaction.ts'
import type { Model } from '../../types/model/model.ts'
import { fieldOf, invalidField, type Path } from '../config-error.ts'
import type { AgentConfig, CompactionSettings, ExecutionSection, ToolsSection } from '../config-types.ts'
import { resolveName } from '../references/entities.ts'
import type { Build } from './build.ts'
import type { Said } from './settings.ts'

/** `object` without what is undefined. */
function given<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  } // fewer keys, none of them undefined; callers read them as optional
}

/** Limits, retries and caching of `[execution]`. A cost limit without rates has no effect, as the specification has it: a warning of the file says so. */
export function executionOptions(section: ExecutionSection = {}, model: Model): Pick<AgentOptions, 'limits' | 'retry' | 'cache'> {
  const { max_turns, max_same_refusals, max_searches, max_continuations, max_total_tokens, max_duration_secs, max_cost, retry, cache } =
    section
  const limits = given({
    maxTurns: max_turns,
    maxSameRefusals: max_same_refusals,
    maxSearches: max_searches,
    maxContinuations: max_continuations,
    maxTotalTokens: max_total_tokens,
    maxDurationMs: max_duration_secs === undefined ? undefined : max_duration_secs * 1000,
    maxCost: hasRates(model.config) ? max_cost : undefined,
  })
  const retries = given({
    maxRetries: retry?.max_retries,
    initialDelayMs: retry?.initial_delay_ms,
    backoffMultiplier: retry?.backoff_multiplier,
    maxDelayMs: retry?.max_delay_ms,
  })
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(retries).length > 0 && { retry: retries }),
    ...(cache !== undefined && { cache: cacheOf(cache) }),
  }
}

function cacheOf({ enabled = true, strategy = 'auto' }: NonNullable<ExecutionSection['cache']>): CacheStrategy {
  return !enabled || strategy.toLowerCase() === 'disabled' ? { type: 'disabled' } : { type: 'auto' }
}

/** How calls of one answer are run. */
export function toolExecutionOf({ tool_strategy, batch_size = 3 }: ToolsSection = {}): ToolExecutionStrategy | undefined {
  const strategy = tool_strategy?.toLowerCase()
  if (strategy === undefined) return undefined
  if (strategy === 'batched') return { type: 'batched', size: batch_size }
  if (strategy === 'parallel' || strategy === 'sequential') return { type: strategy }
  throw invalidField(['tools', 'tool_strategy'], tool_strategy, '"parallel", "sequential", "batched"')
}

/**
 * What `[compaction]`, `[context]` and the variation that a profile names say together. `false` without `max_context_tokens`, as the specification has
 * it. With a focus message the model writes the summaries: the default, which needs no model, could do nothing with it.
 */
export function contextConfigOf(build: Build, reference: Said<string> | undefined, model: Model): Partial<ContextConfig> | false {
  const settings = { ...sharedSettings(build.config), ...variationOf(build, reference) }
  const { max_context_tokens, system_prompt_tokens, focus_message } = settings
  if (max_context_tokens === undefined) return false
  const compaction: Partial<CompactionConfig> = given({
    compactAtPct: settings.compact_at_pct,
    compactBudgetThresholdPct: settings.compact_budget_threshold_pct,
    scope: scopeOf(settings.compaction_scope),
    keepFirstTurns: settings.keep_first_turns,
    keepRecentTurns: settings.keep_recent_turns,
    maxSummaryTokens: settings.max_summary_tokens,
    toolOutputMaxLines: settings.tool_output_max_lines,
    focusMessage: focus_message,
    strategy: focus_message === undefined ? undefined : llmCompaction({ model }),
  })
  return given({ maxContextTokens: max_context_tokens, systemPromptTokens: system_prompt_tokens, compaction })
}

function sharedSettings({ compaction, context }: AgentConfig): CompactionSettings {
  const { compaction: inner, ...outer } = context ?? {}
  const sections: (readonly [CompactionSettings, Path])[] = [
    [withoutInstances(compaction), ['compaction']],
    [outer, ['context']],
    [withoutInstances(inner), ['context', 'compaction']],
  ]
  const merged = new Map<string, unknown>()
  for (const [section, path] of sections) {
    for (const [key, value] of Object.entries(section)) {
      const other = merged.get(key)
      if (other !== undefined && other !== value)
        throw invalidField([...path, key], value, `one value for it: another section says ${String(other)}`)
      merged.set(key, value)
    }
  }
  return Object.fromEntries(merged)
}

function withoutInstances(section: AgentConfig['compaction'] = {}): CompactionSettings {
  const { instances: _, ...settings } = section
  return settings
}

function variationOf({ config, entities }: Build, reference: Said<string> | undefined): CompactionSettings {
  if (reference === undefined) return {}
  const { path } = resolveName(entities, reference.value, 'compaction', reference.path).entity
  const section = path[0] === 'context' ? config.context?.compaction : config.compaction
  const { id: _, description: __, ...settings } = section?.instances?.[Number(path.at(-1))] ?? { id: fieldOf(path) }
  return settings
}

function scopeOf(scope: number | string | undefined): CompactionScope | undefined {
  if (scope === undefined) return undefined
  return typeof scope === 'number' ? { type: 'fixedCount', count: scope } : { type: 'tokenBudget' }
}
