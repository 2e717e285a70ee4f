import { aSkillSet } from '../base/argument-checks.ts'
import { type RequestSettings, settingFields, type ThinkingLevel, thinkingLevel } from '../contract/model/request-settings.ts'
import { checkOptions, fits } from '../contract/shape/read.ts'
import { anObject, aText, listOf, options } from '../contract/shape/shape.ts'
import type { SkillSet } from '../types/tool/skills.ts'

/** The settings of an agent that a profile can give a value to. */
export interface ProfileSettings extends Omit<RequestSettings, 'headers'> {
  systemPrompt?: string
  thinking?: ThinkingLevel
  /** Middle segment of loop ids. */
  configId?: string
}

/**
 * A blueprint that several agents can share, as plain JSON: who they are, and the settings they have unless one says otherwise.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export interface AgentProfile extends ProfileSettings {
  /** Of the profile; agents that share it have ids of their own. */
  profileId?: string
  name?: string
  /** What such agents are for. */
  description?: string
  /** Names of the skills that its agents have, of those they are given. They are not tools. Default: all. */
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

/** The settings `profile` gives a value to, and nothing else. An empty system prompt counts as none. */
export function profileDefaults(profile: AgentProfile): ProfileSettings {
  checkOptions(profile, aProfile, 'profile')
  const { profileId: _id, name: _name, description: _about, skills: _skills, ...settings } = profile
  return given(settings)
}

/**
 * `options` with the settings of `profile` where they say nothing themselves. Pure; neither argument is changed.
 *
 * **Contract**: an option beats the profile, the profile beats the default. The first system prompt that is not empty wins; every other
 * option that is present wins, also `0` and `off`. Values are checked where they are used: by `new Agent`. Of the set in `options.skills` those
 * stay that the profile names; throws `ConfigError` `invalidOption` for a name that is not in it. Without a set the names stay in its place, and
 * `new Agent` refuses them: they are not ignored.
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

/** What of `settings` has a value. */
function given<T extends object>(settings: T): Partial<T> {
  const entries: [string, unknown][] = Object.entries(settings)
  return Object.fromEntries(entries.filter(([key, value]) => value !== undefined && (key !== 'systemPrompt' || value !== ''))) as Partial<T> // the same keys, fewer
}
