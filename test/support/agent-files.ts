import { type AgentConfig, agentFromConfig, agentsFromConfig, type ConfigHost, parseConfig } from '../../src/config.ts'
import { type Agent, type AgentTool, ConfigError, defineTool } from '../../src/index.ts'

/** The least that can be made into an agent. */
export const provider = '[provider]\nmodel = "m"\napi_key = "k"\n'

/** That its key stands in the file is no matter here. */
const keyIsFine: ConfigHost = { trust: ({ field }) => field.endsWith('api_key') }

/** The agent of a TOML text. */
export async function agentOf(text: string, host: ConfigHost = {}): Promise<Agent> {
  return agentFromConfig((await parseConfig(text, 'toml')).config, { ...keyIsFine, ...host })
}

/** All agents of a TOML text. */
export async function agentsOf(text: string, host: ConfigHost = {}): Promise<Map<string, Agent>> {
  return agentsFromConfig((await parseConfig(text, 'toml')).config, { ...keyIsFine, ...host })
}

/** The error that reading a text, or making its agents, ends with. */
export async function refusal(text: string, host: ConfigHost = {}): Promise<ConfigError> {
  return refused(agentsOf(text, host))
}

/** The error that a configuration written by hand ends with. */
export async function refusalOf(config: AgentConfig, host: ConfigHost = {}): Promise<ConfigError> {
  return refused(agentsFromConfig(config, host))
}

async function refused(attempt: Promise<unknown>): Promise<ConfigError> {
  const error: unknown = await attempt.then(
    () => new Error('nothing was refused'),
    (reason: unknown) => reason,
  )
  if (ConfigError.isInstance(error)) return error
  throw error
}

/** Tools that only have a name. */
export function toolsNamed(...names: string[]): AgentTool[] {
  return names.map((name) => defineTool({ name, description: name, parameters: { type: 'object' }, execute: () => name }))
}
