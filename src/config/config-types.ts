import type { JsonObject } from '../contract/json.ts'

/**
 * An agent file as an object, in the words of the file. Everything is optional, a model to call excepted. What it says is explained key by
 * key on the page. Source: docs/concepts/configuration.md
 */
export interface AgentConfig {
  default_workspace?: string
  agent?: AgentSection
  provider?: ProviderSection
  session?: SessionSection
  tools?: ToolsSection
  compaction?: CompactionSection
  context?: ContextSection
  execution?: ExecutionSection
  sub_agents?: { instances?: SubAgentSection[] }
  system_prompt_strategy?: { instances?: PromptStrategySection[] }
  system_prompt?: { instances?: PromptSection[] }
  skills?: SkillsSection
  mcp?: { servers?: McpServerSection[] }
  callbacks?: CallbacksSection
  hooks?: HooksSection
}

/** `[agent]`: who it is. */
export interface AgentSection {
  system_prompt?: string
  workspace?: string
  profile?: ProfileSection & { instances?: ProfileInstanceSection[] }
  instances?: AgentInstanceSection[]
}

/** What may be said of every request, in `[provider]`, `[agent.profile]` and sub-agents. */
export interface RequestSettingsSection {
  temperature?: number
  top_p?: number
  top_k?: number
  stop_sequences?: string[]
  seed?: number
  frequency_penalty?: number
  presence_penalty?: number
  verbosity?: string
  tool_choice?: string
  parallel_tool_calls?: boolean
  thinking_budget?: number
  thinking_summary?: string
  service_tier?: string
  cache_ttl?: string
  user?: string
  strict?: boolean
}

/** `[agent.profile]`: settings that several agents may share. */
export interface ProfileSection extends RequestSettingsSection {
  profile_id?: string
  name?: string
  description?: string
  system_prompt?: string
  thinking_level?: string
  max_tokens?: number
  config_id?: string
  skills?: string[]
  workspace?: string
  compaction?: string
}

/** `[[agent.profile.instances]]`: a variation of the profile. */
export interface ProfileInstanceSection extends ProfileSection {
  id: string
}

/** `[[agent.instances]]`: one of several agents. */
export interface AgentInstanceSection {
  name?: string
  agent_profile?: string
  profile?: ProfileSection
  system_prompt?: string
  provider?: string
  workspace?: string
}

/** What a model of a service is, and how it is reached. */
export interface ModelSection extends RequestSettingsSection {
  model?: string
  api_key?: string
  api?: string
  base_url?: string
  provider?: string
  name?: string
  reasoning?: boolean
  context_window?: number
  max_tokens?: number
  first_byte_timeout_ms?: number | 'none'
  idle_timeout_ms?: number | 'none'
  progress_timeout_ms?: number | 'none'
  resource?: string
  project?: string
  location?: string
  region?: string
  cost?: CostSection
  headers?: Record<string, string>
  compat?: CompatSection
  require_media?: boolean
  server_tools?: JsonObject[]
  body?: JsonObject
  fallback?: string[]
}

/** `[provider]`: the model of every agent that names no other. */
export interface ProviderSection extends ModelSection {
  instances?: ProviderInstanceSection[]
}

/** `[[provider.instances]]`: another model, by name or id. What it leaves out is not taken from `[provider]`. */
export interface ProviderInstanceSection extends ModelSection {
  id?: string
  description?: string
}

/** `[provider.cost]`: USD per million tokens. */
export interface CostSection {
  input_per_million?: number
  output_per_million?: number
  cache_read_per_million?: number
  cache_write_per_million?: number
}

/** `[provider.compat]`: how a service deviates from OpenAI. */
export interface CompatSection {
  supports_store?: boolean
  supports_developer_role?: boolean
  supports_reasoning_effort?: boolean
  supports_usage_in_streaming?: boolean
  max_tokens_field?: string
  requires_tool_result_name?: boolean
  requires_assistant_after_tool_result?: boolean
  thinking_format?: string
}

/** `[session]`: whether conversations are kept. */
export interface SessionSection {
  scope?: string
  thinking_level?: string
  temperature?: number
}

/** `[tools]`: what the agent may use. */
export interface ToolsSection {
  enabled?: string[]
  tool_strategy?: string
  batch_size?: number
  instances?: ToolInstanceSection[]
}

/** `[[tools.instances]]`: an MCP server, in the form of the specification's examples. */
export interface ToolInstanceSection {
  name: string
  enabled?: boolean
  config: Omit<McpServerSection, 'name' | 'enabled'>
}

/** `[[mcp.servers]]`: an MCP server whose tools the agent gets. */
export interface McpServerSection {
  name: string
  enabled?: boolean
  transport?: string
  command?: string
  args?: string[]
  env?: Record<string, string>
  url?: string
  headers?: Record<string, string>
  include?: string[]
  timeout_secs?: number
}

/** `[compaction]`, `[context.compaction]`: how long conversations are made to fit. */
export interface CompactionSection extends CompactionSettings {
  instances?: CompactionInstanceSection[]
}

/** What a compaction can be told. */
export interface CompactionSettings {
  max_context_tokens?: number
  system_prompt_tokens?: number
  compact_at_pct?: number
  compact_budget_threshold_pct?: number
  compaction_scope?: number | string
  keep_first_turns?: number
  keep_recent_turns?: number
  max_summary_tokens?: number
  tool_output_max_lines?: number
  focus_message?: string
}

/** `[[compaction.instances]]`: a variation that profiles refer to. */
export interface CompactionInstanceSection extends CompactionSettings {
  id: string
  description?: string
}

/** `[context]`: the specification's other place for what `[compaction]` says. */
export interface ContextSection {
  max_context_tokens?: number
  system_prompt_tokens?: number
  keep_first_turns?: number
  keep_recent_turns?: number
  tool_output_max_lines?: number
  compaction?: CompactionSection
}

/** `[execution]`: when a run stops by itself, and how calls are repeated and cached. */
export interface ExecutionSection {
  max_turns?: number
  max_same_refusals?: number
  max_searches?: number
  max_continuations?: number
  max_total_tokens?: number
  max_duration_secs?: number
  max_cost?: number
  retry?: { max_retries?: number; initial_delay_ms?: number; backoff_multiplier?: number; max_delay_ms?: number }
  cache?: { enabled?: boolean; strategy?: string }
}

/** `[[sub_agents.instances]]`: an agent that the others call like a tool. It takes nothing from them but the model where it names none. */
export interface SubAgentSection extends RequestSettingsSection {
  name: string
  id?: string
  description: string
  system_prompt?: string
  model?: string
  provider?: string
  thinking_level?: string
  max_tokens?: number
  max_turns?: number
  max_total_tokens?: number
  max_duration_secs?: number
  skills?: string[]
  tools?: string[]
}

/** `[[system_prompt_strategy.instances]]`: the blocks of a system prompt. */
export interface PromptStrategySection {
  id: string
  description?: string
  blocks?: { name: string; order?: number; max_length?: number }[]
}

/** `[[system_prompt.instances]]`: texts for the blocks of a strategy, each under the name of its block. */
export interface PromptSection {
  id: string
  description?: string
  type?: string
  [block: string]: string | undefined
}

/** `[skills]`: where skills are, in the workspace. */
export interface SkillsSection {
  paths?: string[]
}

/** `[callbacks]`: scripts at the fixed points of a run. */
export interface CallbacksSection {
  before_loop?: string
  after_loop?: string
  before_turn?: string
  after_turn?: string
  before_tool_execution?: string
  after_tool_execution?: string
  before_tool_execution_update?: string
  after_tool_execution_update?: string
  before_compaction_start?: string
  after_compaction_end?: string
  on_error?: string
  before_task?: string
  after_task?: string
}

/** `[hooks]`: functions of plugins, which no file can bring along: each is refused by name. */
export interface HooksSection {
  transform_context?: string
  convert_to_llm?: string
}

/** A language that agent files are written in. */
export type ConfigFormat = 'toml' | 'json' | 'yaml'

/** Something in a file that is no error and does not do what its author may think. */
export interface ConfigWarning {
  /** `unknownKey`: nobody reads it. `noEffect`: it needs something that the file does not say. */
  code: 'unknownKey' | 'noEffect'
  /** Where, such as `agent.instances[0].nme`. */
  field: string
  message: string
  /** From 1; absent where the parser does not know. */
  line?: number
  column?: number
}

/** What a text says, and what of it nobody reads. */
export interface ParsedConfig {
  /** In one form: names without aliases, nothing that is unknown or `null`. References and `${VARIABLES}` are as they were written. */
  config: AgentConfig
  warnings: ConfigWarning[]
  /** Everything that the text says, as JSON. */
  document: JsonObject
  format: ConfigFormat
}
