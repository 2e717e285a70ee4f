/**
 * Agents from a file: TOML, JSON or YAML. Needs zod 4, an optional peer dependency.
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
export { agentFromConfig, agentsFromConfig } from './build/agents.ts'
export { trustRequests } from './build/trust.ts'
export type { ConfigWarning } from './config-error.ts'
export type { AgentPlace, ConfigHost, McpServerConfig, ToolPlace, TrustRequest } from './config-host.ts'
export type { ConfigFormat, ParsedConfig } from './parse-config.ts'
export { parseConfig, parseConfigAuto } from './parse-config.ts'
export { substituteEnv } from './read/env.ts'
export { configJsonSchema } from './schema/json-schema.ts'
export type { CompatSection, CostSection, ModelSection, ProviderInstanceSection, ProviderSection } from './schema/model-sections.ts'
export type { ChoicesSection, ClientToolSection } from './schema/page-sections.ts'
export type {
  AgentConfig,
  AgentInstanceSection,
  AgentSection,
  CallbacksSection,
  CompactionInstanceSection,
  CompactionSection,
  CompactionSettings,
  ContextSection,
  ExecutionSection,
  HooksSection,
  McpServerSection,
  ProfileInstanceSection,
  ProfileSection,
  PromptSection,
  PromptStrategySection,
  SessionSection,
  SkillsSection,
  SubAgentSection,
  ToolInstanceSection,
  ToolsSection,
} from './schema/sections.ts'
