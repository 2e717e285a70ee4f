import { fieldOf, type Path } from '../config-error.ts'
import type { AgentConfig, ProfileSection } from '../schema/sections.ts'
import { filePathOf } from './build.ts'

/** A file whose text becomes a part of a prompt. */
export interface PromptFile {
  /** Where the configuration names it. */
  field: string
  /** Its path, as it stands there. */
  what: string
}

/** Every file that a prompt of `config` is read from. */
export function promptFiles({ agent, sub_agents, system_prompt }: AgentConfig): PromptFile[] {
  const found: PromptFile[] = []
  const look = (section: object, key: string, path: Path): void => {
    const prompt: unknown = Reflect.get(section, key)
    const file = typeof prompt === 'string' ? filePathOf(prompt) : undefined
    if (file !== undefined) found.push({ field: fieldOf([...path, key]), what: file })
  }
  if (agent !== undefined) look(agent, 'system_prompt', ['agent'])
  for (const [profile, path] of profilesIn(agent)) look(profile, 'system_prompt', path)
  for (const [at, each] of (agent?.instances ?? []).entries()) look(each, 'system_prompt', ['agent', 'instances', at])
  for (const [at, each] of (system_prompt?.instances ?? []).entries()) {
    for (const block of Object.keys(each)) look(each, block, ['system_prompt', 'instances', at])
  }
  for (const [at, each] of (sub_agents?.instances ?? []).entries()) look(each, 'system_prompt', ['sub_agents', 'instances', at])
  return found
}

/** The profiles of an agent, and where they stand. */
export function profilesIn(agent: AgentConfig['agent']): [ProfileSection, Path][] {
  const { profile, instances = [] } = agent ?? {}
  const base: [ProfileSection, Path][] = profile === undefined ? [] : [[profile, ['agent', 'profile']]]
  const variations = (profile?.instances ?? []).map((each, at): [ProfileSection, Path] => [each, ['agent', 'profile', 'instances', at]])
  const inline = instances.flatMap(({ profile: own }, at): [ProfileSection, Path][] =>
    own === undefined ? [] : [[own, ['agent', 'instances', at, 'profile']]],
  )
  return [...base, ...variations, ...inline]
}
