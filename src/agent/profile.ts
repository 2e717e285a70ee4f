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
 * A reusable agent blueprint as plain JSON: an identity and default settings.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export interface AgentProfile extends ProfileSettings {
  /** Profile id. Agents created from the profile get separate ids. */
  profileId?: string
  name?: string
  /** Describes what these agents are for. */
  description?: string
  /** Names of the agent's skills to enable. Skills are not tools. Default: all. */
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
 * Applies a profile to options, without changing either argument.
 *
 * **Contract**
 * - Precedence: option, profile, default. The first system prompt that is not empty wins. Any other option wins if present, including `0`
 *   and `off`.
 * - `new Agent` validates the values.
 * - Keeps only the `options.skills` that the profile names. Throws `ConfigError` `invalidOption` for an unknown name. If `options.skills`
 *   is unset, `new Agent` rejects the names.
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
  return Object.fromEntries(entries.filter(([key, value]) => value !== undefined && (key !== 'systemPrompt' || value !== ''))) as Partial<T> // fewer keys
}
