import type { Agent } from '../../agent/agent.ts'
import { logWarning } from '../../base/log-warning.ts'
import { withoutSecret } from '../../base/text/redact.ts'
import { ConfigError } from '../../contract/errors.ts'
import { ownOf } from '../../contract/json.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { placed, placeIn, stepsOf, takeUnread } from '../config-error.ts'
import { type ConfigHost, configHost } from '../config-host.ts'
import { substituteEnv, variablesIn } from '../read/env.ts'
import { entitiesIn } from '../references.ts'
import { checkedConfig } from '../schema/check.ts'
import type { AgentConfig } from '../schema/sections.ts'
import { agentOf } from './agent.ts'
import type { Build } from './build.ts'
import { type AgentSource, severalAgents, singleAgent } from './settings.ts'
import { askForTrust } from './trust.ts'

/**
 * Creates the agent defined by `[agent]` and its profile. For `[[agent.instances]]`, use `agentsFromConfig`.
 *
 * **Contract**
 * - Applies every setting or rejects with `ConfigError` and its `field`: `invalidField`, `missingEnvVar`, `badReference`, `invalidTool`,
 *   `untrusted`, `unsupported` (the host lacks a feature), `io`. Errors contain no values of variables.
 * - Runs, reads and sends nothing before the host has granted all trust requests.
 * - `config` may be a hand-written object. It is not modified. `agent.close()` closes started servers. If the agent cannot be created, they
 *   are closed immediately.
 * - Logs unread warnings of `config` once, to the host's logger.
 *
 * Source: docs/reference/configuration.md
 */
export async function agentFromConfig(config: AgentConfig, host: ConfigHost = {}): Promise<Agent> {
  const [agent] = (await made(config, host, ({ config: own }) => [singleAgent(own)])).values()
  if (agent === undefined) throw new ConfigError('invalidField', 'The configuration defines no agent.')
  return agent
}

/**
 * Creates all agents of `[[agent.instances]]` by name, in file order. Without instances, returns the agent of `agentFromConfig` as
 * `default`.
 * Rejects like `agentFromConfig`.
 *
 * All agents share MCP servers and entities referenced with `%`. The last agent to close closes the servers.
 *
 * Source: docs/reference/configuration.md
 */
export async function agentsFromConfig(config: AgentConfig, host: ConfigHost = {}): Promise<Map<string, Agent>> {
  return made(config, host, (build) => {
    const several = severalAgents(build)
    return several.length === 0 ? [singleAgent(build.config)] : several
  })
}

async function made(given: AgentConfig, host: ConfigHost, sourcesOf: (build: Build) => AgentSource[]): Promise<Map<string, Agent>> {
  checkOptions(host, configHost, 'host')
  const { env = {}, logger } = host
  for (const { code, message, line, column } of takeUnread(given)) {
    const place = line === undefined ? '' : ` (line ${line}, column ${column})`
    logWarning(logger, 'configWarning', { code, message: message + place })
  }
  const opened: Build['opened'] = []
  try {
    const { config: raw } = checkedConfig(given)
    await askForTrust(raw, host)
    const config = substituteEnv(raw, env)
    const build: Build = { config, raw, host, entities: entitiesIn(config), made: new Map(), limiters: limitersOf(given), opened }
    const agents = new Map<string, Agent>()
    for (const source of sourcesOf(build)) agents.set(source.name, await agentOf(build, source))
    return agents
  } catch (error) {
    await Promise.allSettled(opened.map(async (each) => each.close()))
    throw ConfigError.isInstance(error) ? explained(error, given, env) : error
  }
}

const limiters = new WeakMap<AgentConfig, Build['limiters']>()

/**
 * Returns the limiters of a configuration. Shared, because a server creates one agent per session and all of them call the same provider.
 */
function limitersOf(config: AgentConfig): Build['limiters'] {
  const known = limiters.get(config) ?? new Map()
  limiters.set(config, known)
  return known
}

/** Adds the position in the text to an error, and removes values of variables. */
function explained(error: ConfigError, config: AgentConfig, env: NonNullable<ConfigHost['env']>): ConfigError {
  const values = [...variablesIn(config)].flatMap((name) => ownOf(env, name) ?? [])
  const message = withoutSecret(error.message, values)
  const { code, field, value, expected } = error
  const clean =
    message === error.message
      ? error
      : new ConfigError(code, message, {
          ...(field !== undefined && { field: withoutSecret(field, values) }),
          ...(value !== undefined && { value: withoutSecret(value, values) }),
          ...(expected !== undefined && { expected }),
        })
  return placed(clean, placeIn(config, stepsOf(field ?? '')))
}
