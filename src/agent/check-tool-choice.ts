import { ConfigError } from '../contract/errors.ts'
import type { ToolChoice } from '../contract/model/request-settings.ts'
import { nearest } from '../contract/shape/nearest-name.ts'
import type { AgentSettings } from './agent-options.ts'

/**
 * Throws `ConfigError` `notAllowed` where a choice names a tool that the agent has not: no service could be told of it. Where a hook may bring tools along,
 * nobody knows before the turn.
 */
export function checkToolChoice(choice: ToolChoice | undefined, { tools = [], choices, hooks }: AgentSettings): void {
  if (typeof choice !== 'object' || hooks?.prepareTurn !== undefined) return
  const known = [...tools, ...tools.flatMap(({ companions = [] }) => companions), ...Object.values(choices?.tools ?? {}).flat()]
  const names = known.map(({ name }) => name)
  const missing = ('tool' in choice ? [choice.tool] : choice.allowed).find((name) => !names.includes(name))
  if (missing === undefined) return
  const said = JSON.stringify(missing.slice(0, 80))
  throw new ConfigError('notAllowed', `toolChoice names ${said}, a tool that the agent does not have. ${nearest(missing, names)}`)
}
