import type { AgentOptions } from '../../agent/agent-options.ts'
import { llmCompaction } from '../../context/compaction/llm-compaction.ts'
import { compactionTable } from '../../context/tokens/context-options.ts'
import type { CacheStrategy } from '../../contract/model/request.ts'
import { hasRates } from '../../contract/model/usage.ts'
import { limitFields, retryFields, type ToolExecutionStrategy, toolExecution } from '../../contract/run/settings.ts'
import { namesOf, tagsOf } from '../../contract/shape/shape.ts'
import type { CompactionConfig, CompactionScope, ContextConfig } from '../../types/context/compaction.ts'
import type { Model } from '../../types/model/model.ts'
import { fieldOf, invalidField, type Path } from '../config-error.ts'
import { resolveName } from '../references.ts'
import { fromFile } from '../schema/key-table.ts'
import { type AgentConfig, type CompactionSettings, defaultBatch, type ExecutionSection, type ToolsSection } from '../schema/sections.ts'
import type { Build } from './build.ts'
import type { Said } from './settings.ts'

/** Limits, retries and caching of `[execution]`. A cost limit without rates has no effect, as the specification has it: a warning of the file says so. */
export function executionOptions(section: ExecutionSection = {}, model: Model): Pick<AgentOptions, 'limits' | 'retry' | 'cache'> {
  const { max_duration_secs, retry = {}, cache } = section
  const limits = {
    ...fromFile(hasRates(model.config) ? section : { ...section, max_cost: undefined }, namesOf(limitFields)),
    ...(max_duration_secs !== undefined && { maxDurationMs: max_duration_secs * 1000 }),
  }
  const retries = fromFile(retry, namesOf(retryFields))
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
export function toolExecutionOf({ tool_strategy, batch_size = defaultBatch }: ToolsSection = {}): ToolExecutionStrategy | undefined {
  const strategy = tool_strategy?.toLowerCase()
  if (strategy === undefined) return undefined
  if (strategy === 'batched') return { type: 'batched', size: batch_size }
  if (strategy === 'parallel' || strategy === 'sequential') return { type: strategy }
  const known = tagsOf(toolExecution).map((tag) => JSON.stringify(tag))
  throw invalidField(['tools', 'tool_strategy'], tool_strategy, known.join(', '))
}

/**
 * What `[compaction]`, `[context]` and the variation that a profile names say together. `false` without `max_context_tokens`, as the specification has
 * it. With a focus message the model writes the summaries: the default, which needs no model, could do nothing with it.
 */
export function contextConfigOf(build: Build, reference: Said<string> | undefined, model: Model): Partial<ContextConfig> | false {
  const settings = { ...sharedSettings(build.config), ...variationOf(build, reference) }
  const { max_context_tokens, system_prompt_tokens, focus_message } = settings
  if (max_context_tokens === undefined) return false
  const compaction: Partial<CompactionConfig> = {
    ...fromFile(settings, namesOf(compactionTable)),
    ...(settings.compaction_scope !== undefined && { scope: scopeOf(settings.compaction_scope) }),
    ...(focus_message !== undefined && { strategy: llmCompaction({ model }) }),
  }
  return {
    maxContextTokens: max_context_tokens,
    ...(system_prompt_tokens !== undefined && { systemPromptTokens: system_prompt_tokens }),
    compaction,
  }
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

function scopeOf(scope: number | string): CompactionScope {
  return typeof scope === 'number' ? { type: 'fixedCount', count: scope } : { type: 'tokenBudget' }
}
