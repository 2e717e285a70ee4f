import { aSkillSet } from '../base/argument-checks.ts'
import { type RequestSettings, settingFields, type ThinkingLevel, thinkingLevel } from '../contract/model/request-settings.ts'
import { checkOptions, fits } from '../contract/shape/read.ts'
import { anObject, aText, listOf, options } from '../contract/shape/shape.ts'
import type { SkillSet } from '../types/tool/skills.ts'

/** Agent settings that a profile can set. */
export interface ProfileSettings extends Omit<RequestSettings, 'headers'> {
  systemPrompt?: string
  thinking?: ThinkingLevel
  /** Middle segment of loop ids. */
  configId?: string
}

/**
 * A reusable blueprint for agents, as plain JSON: identity, and defaults for their settings.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export interface AgentProfile extends ProfileSettings {
  /** Id of the profile; agents based on it have ids of their own. */
  profileId?: string
  name?: string
  /** Purpose of the agents. */
  description?: string
  /** Names of the skills to select from those of the agent. Skills are not tools. Default: all. */
  skills?: readonly string[]
}

const { headers: _headers, ...ofProfiles } = settingFields
const aProfile = options<AgentProfile>({
  ...ofProfiles,
  systemPrompt: aText,
  thinking: thinkingLevel,
  configId: aText,
  profileId: aText,
  name: aText,
  description: aText,
  skills: listOf(aText),
})

/** Returns only the settings that `profile` sets. An empty system prompt counts as unset. */
export function profileDefaults(profile: AgentProfile): ProfileSettings {
  checkOptions(profile, aProfile, 'profile')
  const { profileId: _id, name: _name, description: _about, skills: _skills, ...settings } = profile
  return given(settings)
}

/**
 * Applies a profile to options. Pure; neither argument is changed.
 *
 * **Contract**
 * - Precedence: option, profile, default. The first system prompt that is not empty wins; any other option wins if present, including `0`
 *   and `off`.
 * - `new Agent` validates the values.
 * - `options.skills` is reduced to the skills that the profile names. Throws `ConfigError` `invalidOption` for a name that is not in it.
 *   Without skills, the names stay in place and `new Agent` rejects them.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export function applyProfile<T extends object>(profile: AgentProfile, options: T & ProfileSettings): T & ProfileSettings {
  checkOptions(options, anObject)
  const settings = { ...options, ...profileDefaults(profile), ...given(options) }
  if (profile.skills === undefined) return settings
  const skills: unknown = Reflect.get(settings, 'skills') ?? profile.skills
  return { ...settings, skills: isSkillSet(skills) ? skills.select(profile.skills) : skills }
}

function isSkillSet(value: unknown): value is SkillSet {
  return fits(aSkillSet, value)
}

/** Returns the settings that have a value. */
function given<T extends object>(settings: T): Partial<T> {
  const entries: [string, unknown][] = Object.entries(settings)
  return Object.fromEntries(entries.filter(([key, value]) => value !== undefined && (key !== 'systemPrompt' || value !== ''))) as Partial<T> // the same keys, fewer
}
