import { ConfigError } from '../../contract/errors.ts'
import {
  type RequestSettings,
  settingNames,
  type ThinkingLevel,
  thinkingLevel,
  toolChoiceWord,
} from '../../contract/model/request-settings.ts'
import { fetchMedia } from '../../media/fetch-media.ts'
import type { ResolveMedia } from '../../types/model/provider.ts'
import { fieldError, fieldOf, invalidField, type Path } from '../config-error.ts'
import type { TrustRequest } from '../config-host.ts'
import { parseReference, resolveName } from '../references.ts'
import { inFile } from '../schema/key-table.ts'
import type { RequestSettingsSection } from '../schema/model-sections.ts'
import type { AgentConfig, ProfileSection } from '../schema/sections.ts'
import type { Build } from './build.ts'

/** A value, and where the file says it. */
export interface Said<T> {
  value: T
  path: Path
}

/** A section that settings are looked for in. */
export type Layer = readonly [section: object | undefined, path: Path]

/** One agent of the file, with the sections that say what it is, the first of which wins. */
export interface AgentSource {
  name: string
  path: Path
  /** For the settings of a profile. */
  layers: readonly Layer[]
  /** For the system prompt: `[agent]` wins over profiles. */
  promptLayers: readonly Layer[]
  /** For the workspace. */
  placeLayers: readonly Layer[]
  provider?: string
  /** At the limiter of its model, in the words of the file. */
  priority?: string
}

/** The agent of `[agent]` and `[agent.profile]` alone. */
export function singleAgent({ agent, default_workspace }: AgentConfig): AgentSource {
  const own: Layer = [agent, ['agent']]
  const profile: Layer = [agent?.profile, ['agent', 'profile']]
  const fallback: Layer = [{ workspace: default_workspace }, []]
  return {
    name: 'default',
    path: ['agent'],
    layers: [profile],
    promptLayers: [own, profile],
    placeLayers: [own, profile, fallback],
  }
}

/** Every agent of `[[agent.instances]]`. Throws `ConfigError` `invalidField` for two of one name. */
export function severalAgents(build: Build): AgentSource[] {
  const { agent } = build.config
  const names = new Set<string>()
  return (agent?.instances ?? []).map((instance, at) => {
    const { name = 'unnamed', agent_profile, profile, provider, priority } = instance
    const path: Path = ['agent', 'instances', at]
    if (names.has(name)) throw invalidField([...path, 'name'], name, 'a name that no other agent has')
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
    // Nothing but the profile itself has an id of that kind.
    if (profile?.profile_id === reference.name) return [undefined, path]
    throw fieldError('badReference', path, `${fieldOf(path)} names a profile_id that [agent.profile] does not have.`)
  }
  const { entity } = resolveName(entities, text, 'agent_profile', path)
  return [profile?.instances?.[Number(entity.path.at(-1))], entity.path]
}

/** What the first of `layers` says that says `key` at all. An empty text says nothing. */
export function said<K extends keyof ProfileSection>(layers: readonly Layer[], key: K): Said<NonNullable<ProfileSection[K]>> | undefined {
  for (const [section, path] of layers) {
    const value: unknown = section === undefined ? undefined : Reflect.get(section, key)
    if (value !== undefined && value !== '') return { value: value as NonNullable<ProfileSection[K]>, path: [...path, key] } // checked: sections of one key have one kind of value
  }
  return undefined
}

/** The level that a word of the file stands for, in any case. */
export function thinkingOf(word: Said<string> | undefined): ThinkingLevel | undefined {
  if (word === undefined) return undefined
  const level = thinkingLevel.words.find((each) => each === word.value.toLowerCase())
  if (level === undefined) throw invalidField(word.path, word.value, thinkingLevel.words.map((each) => JSON.stringify(each)).join(', '))
  return level
}

/** What a section says of every request, in the words of the options. */
export function requestSettingsOf(section: RequestSettingsSection): RequestSettings {
  const { tool_choice: choice, ...rest } = section
  const said: Record<string, unknown> = {}
  for (const name of settingNames) {
    const value: unknown = Reflect.get(rest, inFile(name))
    // Words may stand in any case.
    if (value !== undefined && value !== '') said[name] = typeof value === 'string' && name !== 'user' ? value.toLowerCase() : value
  }
  if (choice !== undefined && choice !== '') said.toolChoice = isOf(toolChoiceWord.words, choice) ? choice : { tool: choice }
  return said as RequestSettings // checked by the table of the section, and again by whoever takes them
}

/** As {@link requestSettingsOf}, of several sections, the first of which wins. */
export function layeredSettings(layers: readonly Layer[]): RequestSettings {
  return Object.assign({}, ...layers.map(([section]) => requestSettingsOf(section ?? {})).reverse())
}

function isOf<W extends string>(words: readonly W[], word: string): word is W {
  return (words as readonly string[]).includes(word)
}

const path: Path = ['media']

/** Every host that media are fetched from: a name may lead into the network of whoever runs the file. */
export function mediaRequests({ media }: AgentConfig): TrustRequest[] {
  return (media?.hosts ?? []).map((host, at): TrustRequest => ({ kind: 'media', field: fieldOf([...path, 'hosts', at]), what: host }))
}

/**
 * Fetches media as `[media]` says. Not by the `fetch` of the host, which is for models: it may bring their keys. Throws `ConfigError` at the key for what
 * is no host.
 */
export function resolveMediaOf({ media }: AgentConfig): ResolveMedia | undefined {
  if (media === undefined) return undefined
  const { hosts, max_bytes: maxBytes, timeout_secs: seconds } = media
  try {
    return fetchMedia({ hosts, ...(maxBytes !== undefined && { maxBytes }), ...(seconds !== undefined && { timeoutMs: seconds * 1000 }) })
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    throw fieldError('invalidField', [...path, 'hosts'], error.message)
  }
}
