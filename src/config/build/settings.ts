import type { AgentOptions } from '../../agent/agent-options.ts'
import { llmCompaction } from '../../context/compaction/llm-compaction.ts'
import { ConfigError } from '../../contract/errors.ts'
import { hasRates } from '../../contract/model/usage.ts'
import { fetchMedia } from '../../media/fetch-media.ts'
import type { ContextConfig } from '../../types/context/compaction.ts'
import type { Model } from '../../types/model/model.ts'
import type { ResolveMedia } from '../../types/model/provider.ts'
import { fieldError, fieldOf, invalidField, type Path } from '../config-error.ts'
import { parseReference, resolveName } from '../references.ts'
import { agentSettingsKeys, type ProfileSection } from '../schema/agent-sections.ts'
import { type OptionsOf, optionOf, optionsOf } from '../schema/key-table.ts'
import {
  type AgentConfig,
  type CompactionSettings,
  cacheKeys,
  compactionSettingsKeys,
  defaultBatch,
  type ExecutionSection,
  executionKeys,
  mediaKeys,
  retryKeys,
  type ToolsSection,
  toolsKeys,
} from '../schema/sections.ts'
import type { Build } from './build.ts'

/** A value with its path in the file. */
export interface LayeredSetting<T> {
  value: T
  path: Path
}

/** A section with settings, and its path. */
export type Layer = readonly [section: Partial<ProfileSection> | undefined, path: Path]

/** An agent in the file and the sections that configure it, in order of precedence. */
export interface AgentSource {
  name: string
  path: Path
  /** Sections for profile settings. */
  layers: readonly Layer[]
  /** Sections for the system prompt: `[agent]` overrides profiles. */
  promptLayers: readonly Layer[]
  /** Sections for the workspace. */
  placeLayers: readonly Layer[]
  provider?: string
  /** Priority in the model's limiter, as in the file. */
  priority?: string
}

/** Returns the agent defined by `[agent]` and `[agent.profile]`. */
export function singleAgent({ agent, default_workspace }: AgentConfig): AgentSource {
  const own: Layer = [agent, ['agent']]
  const profile: Layer = [agent?.profile, ['agent', 'profile']]
  const fallback: Layer = [default_workspace === undefined ? undefined : { workspace: default_workspace }, []]
  return {
    name: 'default',
    path: ['agent'],
    layers: [profile],
    promptLayers: [own, profile],
    placeLayers: [own, profile, fallback],
  }
}

/** Returns the agents defined by `[[agent.instances]]`. Throws `ConfigError` `invalidField` for duplicate names. */
export function severalAgents(build: Build): AgentSource[] {
  const { agent } = build.config
  const names = new Set<string>()
  return (agent?.instances ?? []).map((instance, at) => {
    const { name = 'unnamed', agent_profile, profile, provider, priority } = instance
    const path: Path = ['agent', 'instances', at]
    if (names.has(name)) throw invalidField([...path, 'name'], name, 'a unique name')
    names.add(name)
    const base = singleAgent(build.config)
    const inline: Layer = [profile, [...path, 'profile']]
    const variation: Layer = agent_profile === undefined ? [undefined, path] : profileAt(build, agent_profile, [...path, 'agent_profile'])
    const own: Layer = [instance, path]
    const [shared, ...others] = base.promptLayers
    const [sharedPlace, ...otherPlaces] = base.placeLayers
    return {
      name,
      path,
      layers: [inline, variation, ...base.layers],
      promptLayers: [own, inline, ...(shared === undefined ? [] : [shared]), variation, ...others],
      placeLayers: [own, inline, variation, ...(sharedPlace === undefined ? [] : [sharedPlace]), ...otherPlaces],
      ...(provider !== undefined && { provider }),
      ...(priority !== undefined && { priority }),
    }
  })
}

function profileAt({ config, entities }: Build, text: string, path: Path): Layer {
  const profile = config.agent?.profile
  const reference = parseReference(text)
  if (reference !== undefined && reference !== 'malformed' && reference.isSystem) {
    // Only the profile itself has this id.
    if (profile?.profile_id === reference.name) return [undefined, path]
    throw fieldError('badReference', path, `${fieldOf(path)} refers to a profile_id that [agent.profile] does not define.`)
  }
  const { entity } = resolveName(entities, text, 'agent_profile', path)
  return [profile?.instances?.[Number(entity.path.at(-1))], entity.path]
}

/** Returns the first value of `key` in `layers`. Empty strings count as unset. */
export function layeredSetting<K extends keyof ProfileSection>(
  layers: readonly Layer[],
  key: K,
): LayeredSetting<NonNullable<ProfileSection[K]>> | undefined {
  for (const [section, path] of layers) {
    const value = section?.[key]
    if (value !== undefined && value !== '') return { value, path: [...path, key] }
  }
  return undefined
}

/** Returns the agent options from `[session]`, overridden by the first of `layers` that sets them. */
export function agentSettings({ session }: AgentConfig, layers: readonly Layer[]) {
  const all: readonly Layer[] = [[session, ['session']], ...layers]
  const ofEach = all.map(([section = {}, path]) => optionsOf(agentSettingsKeys, section, path))
  const { thinkingLevel: thinking, ...settings }: OptionsOf<typeof agentSettingsKeys, ProfileSection> = Object.assign(
    {},
    ...ofEach.reverse(),
  )
  return { ...settings, ...(thinking !== undefined && { thinking }) }
}

/**
 * Returns the limits, retries and caching of `[execution]`. As the specification requires, a cost limit without rates only produces a
 * warning.
 */
export function executionOptions(section: ExecutionSection = {}, model: Model): Pick<AgentOptions, 'limits' | 'retry' | 'cache'> {
  const { retry = {}, cache, max_cost, ...rest } = section
  const path = ['execution']
  const limits = optionsOf(executionKeys, { ...rest, ...(max_cost !== undefined && hasRates(model.config) && { max_cost }) }, path)
  const retries = optionsOf(retryKeys, retry, path)
  const { enabled = true, strategy = 'auto' } = optionsOf(cacheKeys, cache ?? {}, [...path, 'cache'])
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(retries).length > 0 && { retry: retries }),
    ...(cache !== undefined && { cache: { type: enabled ? strategy : 'disabled' } }),
  }
}

/** Returns the execution mode for the tool calls of one response. */
export function toolExecutionOf({ tool_strategy, batch_size: size = defaultBatch }: ToolsSection = {}): AgentOptions['toolExecution'] {
  if (tool_strategy === undefined) return undefined
  const type = optionOf(toolsKeys.tool_strategy, tool_strategy, ['tools', 'tool_strategy'])
  return type === 'batched' ? { type, size } : { type }
}

/**
 * Merges `[compaction]`, `[context]` and the instance that the profile selects. Returns `false` without `max_context_tokens`, as the
 * specification requires. With a focus message the model writes the summaries, because the default summarizer ignores it.
 */
export function contextConfigOf(build: Build, reference: LayeredSetting<string> | undefined, model: Model): Partial<ContextConfig> | false {
  const settings = optionsOf(compactionSettingsKeys, { ...sharedSettings(build.config), ...variationOf(build, reference) }, ['compaction'])
  const { maxContextTokens, systemPromptTokens, compactionScope: scope, ...rest } = settings
  if (maxContextTokens === undefined) return false
  const strategy = rest.focusMessage === undefined ? undefined : llmCompaction({ model })
  return {
    maxContextTokens,
    ...(systemPromptTokens !== undefined && { systemPromptTokens }),
    compaction: { ...rest, ...(scope !== undefined && { scope }), ...(strategy !== undefined && { strategy }) },
  }
}

function sharedSettings({ compaction = {}, context = {} }: AgentConfig): CompactionSettings {
  const { compaction: inner = {}, ...outer } = context
  const sections: (readonly [CompactionSettings, Path])[] = [
    [compaction, ['compaction']],
    [outer, ['context']],
    [inner, ['context', 'compaction']],
  ]
  const merged = new Map<string, unknown>()
  for (const [section, path] of sections) {
    for (const [key, value] of Object.entries(section)) {
      if (key === 'instances') continue
      const other = merged.get(key)
      if (other !== undefined && other !== value)
        throw invalidField([...path, key], value, `one value for it: another section says ${String(other)}`)
      merged.set(key, value)
    }
  }
  return Object.fromEntries(merged)
}

function variationOf({ config, entities }: Build, reference: LayeredSetting<string> | undefined): CompactionSettings {
  if (reference === undefined) return {}
  const { path } = resolveName(entities, reference.value, 'compaction', reference.path).entity
  const section = path[0] === 'context' ? config.context?.compaction : config.compaction
  return section?.instances?.[Number(path.at(-1))] ?? {}
}

/**
 * Creates the media resolver of `[media]`. Does not use the host's `fetch`, because it may add model keys. Throws `ConfigError` with the field for an invalid host.
 */
export function resolveMediaOf({ media }: AgentConfig): ResolveMedia | undefined {
  if (media === undefined) return undefined
  try {
    return fetchMedia(optionsOf(mediaKeys, media, ['media']))
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    throw fieldError('invalidField', ['media', 'hosts'], error.message)
  }
}
