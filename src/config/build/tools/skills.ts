import { logWarning } from '../../../base/log-warning.ts'
import { ConfigError, errorText } from '../../../contract/errors.ts'
import { loadSkills } from '../../../skills/load-skills.ts'
import type { SkillSet } from '../../../types/tool/skills.ts'
import { fieldError, fieldOf, invalidField, needs, type Path } from '../../config-error.ts'
import type { AgentPlace } from '../../config-host.ts'
import { type Build, shared } from '../build.ts'
import { isOutside } from '../paths.ts'

/** The skills that agents of a place may have, those of the host included: all, or those that `names` says. */
export async function skillsAt(
  build: Build,
  place: AgentPlace,
  names: { value: readonly string[]; path: Path } | undefined,
): Promise<SkillSet | undefined> {
  const all = await shared(build.made, `skills ${place.path}`, () => allSkills(build, place))
  if (names === undefined) return all
  if (all === undefined) throw needs(names.path, 'names skills', 'skills, or [skills] their paths')
  try {
    return all.select(names.value)
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    throw fieldError('invalidField', names.path, `${fieldOf(names.path)}: ${errorText(error)}`)
  }
}

async function allSkills({ config, host }: Build, { workspace }: AgentPlace): Promise<SkillSet | undefined> {
  const { paths = [] } = config.skills ?? {}
  if (paths.length === 0) return host.skills
  if (workspace === undefined) throw needs(['skills', 'paths'], 'names directories', 'a workspace')
  const outside = paths.findIndex(isOutside)
  if (outside >= 0) {
    throw invalidField(['skills', 'paths', outside], paths[outside], 'a directory within the workspace', 'A host can give other skills.')
  }
  const loaded = await loadSkills(workspace, paths)
  for (const { code, path, message } of [...loaded.errors, ...loaded.warnings])
    logWarning(host.logger, 'skillProblem', { code, path, message })
  return host.skills === undefined ? loaded : loaded.merge(host.skills)
}
