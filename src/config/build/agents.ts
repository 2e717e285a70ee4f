import type { Agent } from '../../agent/agent.ts'
import type { ConfigHost } from '../config-host.ts'
import type { AgentConfig } from '../config-types.ts'

/** The agent that `[agent]` and its profile describe. Rejects with `ConfigError`. */
export async function agentFromConfig(config: AgentConfig, host: ConfigHost = {}): Promise<Agent> {
  throw new Error(`todo ${String(config)} ${String(host)}`)
}

/** Every agent of `[[agent.instances]]` by its name; where there are none, the one of `agentFromConfig` as `default`. */
export async function agentsFromConfig(config: AgentConfig, host: ConfigHost = {}): Promise<Map<string, Agent>> {
  throw new Error(`todo ${String(config)} ${String(host)}`)
}
