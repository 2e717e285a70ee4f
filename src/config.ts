/**
 * Builds agents from a TOML, JSON or YAML file. Needs zod 4, an optional peer dependency.
 *
 * @example
 * ```ts
 * import { agentFromConfig, parseConfig } from 'phi-core/config'
 *
 * const { config, warnings } = await parseConfig(text, 'toml')
 * const agent = await agentFromConfig(config, { env: { ANTHROPIC_API_KEY: key }, workspace })
 * ```
 *
 * @module
 */
export { agentFromConfig, agentsFromConfig } from './config/build/agents.ts'
export { trustRequests } from './config/build/trust.ts'
export type { ConfigWarning } from './config/config-error.ts'
export type { ConfigHost, McpServerConfig, TrustRequest } from './config/config-host.ts'
export type { ConfigFormat, ParsedConfig } from './config/parse-config.ts'
export { parseConfig, parseConfigAuto } from './config/parse-config.ts'
export { substituteEnv } from './config/read/env.ts'
export { configJsonSchema } from './config/schema/json-schema.ts'
export type { AgentConfig } from './config/schema/sections.ts'
