import { defaultCompactionConfig as compacted, defaultSystemPromptTokens } from '../../context/tokens/context-limits.ts'
import { defaultMaxMediaBytes } from '../../contract/message/media.ts'
import { thinkingLevel } from '../../contract/model/request-settings.ts'
import { defaultLimits, defaultMaxContinuations, defaultMaxSameRefusals, defaultRetry, toolExecution } from '../../contract/run/settings.ts'
import { sessionScope } from '../../contract/session/session.ts'
import { type FieldsOf, tagsOf } from '../../contract/shape/shape.ts'
import { defaultCallMs, defaultTotalMs } from '../../mcp/tool-set.ts'
import { defaultMediaTimeoutMs } from '../../media/fetch-media.ts'
import type { CompactionScope } from '../../types/context/compaction.ts'
import type { ScriptableHook } from '../../types/run/turn.ts'
import {
  type AgentSection,
  agentKeys,
  type ChoicesSection,
  type ClientToolSection,
  choicesKeys,
  clientToolKeys,
  type PromptSection,
  type PromptStrategySection,
  promptKeys,
  promptText,
  type SubAgentSection,
  strategyKeys,
  subAgentKeys,
} from './agent-sections.ts'
import {
  alias,
  as,
  flag,
  type InFile,
  id,
  instances,
  type Key,
  mayBeEmpty,
  number,
  openTables,
  record,
  required,
  seconds,
  setting,
  table,
  tables,
  text,
  texts,
  whole,
  wholeOr,
  word,
} from './key-table.ts'
import { type ProviderSection, providerKeys } from './model-sections.ts'

/** Default number of concurrent calls. */
export const defaultBatch = 3

const hostForms =
  'Allowed hosts: `files.example.com`, with the port unless it is 443, or `*.example.com` for all subdomains. Requires trust.'

export const mediaKeys = {
  hosts: as('media', required(texts(hostForms))),
  max_bytes: whole(1, 'Maximum bytes. Larger media are rejected.', defaultMaxMediaBytes),
  timeout_secs: seconds('Timeout in seconds for the whole download.', defaultMediaTimeoutMs),
}

/** `[media]`: hosts from which image and file URLs are fetched, for providers that do not fetch them. */
export interface MediaSection extends FieldsOf<typeof mediaKeys> {}

export const sessionKeys = {
  scope: word(sessionScope.words, 'Whether the host persists sessions in its store.', '`ephemeral`'),
  thinking_level: mayBeEmpty(word(thinkingLevel.words, 'Overrides profiles.')),
  temperature: setting('temperature', 'Overrides profiles.'),
}

/** `[session]`: whether conversations are stored. */
export interface SessionSection extends FieldsOf<typeof sessionKeys> {}

const serverName = required(text('Server name, the prefix of its tool names.'))
const enabled = flag('Whether agents use this server.', '`true`')
export const connectionKeys = {
  transport: word(['stdio', 'http'], '`stdio` starts a program, `http` connects to a URL.', 'derived from `command` or `url`'),
  command: text('stdio: the program to start.'),
  args: texts('stdio: arguments of the program.'),
  env: record('stdio: environment variables, in addition to the default ones.'),
  url: as('choice', text('http: URL of the server.')),
  headers: as('headers', record('http: headers of every request.')),
  include: texts('Names of the tools to include, as listed by the server.', 'all'),
  timeout_secs: seconds('Timeout of a call in seconds.', defaultCallMs),
  reset_timeout_on_progress: flag('Whether a progress notification restarts the timeout of a call.', '`true`'),
  total_timeout_secs: seconds(
    'Maximum seconds of a call, regardless of progress.',
    `${defaultTotalMs / 1000}, or \`timeout_secs\` if larger`,
  ),
  roots: texts('stdio: folders that the server can use (MCP roots), inside the working directory.', 'none'),
  instructions: flag("Adds the server's instructions to the system prompt.", '`false`'),
  resource_tools: flag('Adds tools that list and read the resources of the server.', '`false`'),
}
interface McpConnection extends FieldsOf<typeof connectionKeys> {}

const mcpServerKeys = { name: serverName, enabled, ...connectionKeys }

/** `[[mcp.servers]]`: an MCP server whose tools the agent gets. */
export interface McpServerSection extends FieldsOf<typeof mcpServerKeys> {}

const toolInstanceKeys = {
  name: serverName,
  enabled,
  config: required(table<McpConnection>(connectionKeys, 'Connection; see `[[mcp.servers]]`.')),
}

/** `[[tools.instances]]`: an MCP server, as in the specification's examples. */
export interface ToolInstanceSection extends FieldsOf<typeof toolInstanceKeys> {}

export const toolsKeys = {
  enabled: as('local', texts('Names of tools, including `prun`, `revert` and sub-agents.', 'none')),
  tool_strategy: as('local', alias('strategy', word(tagsOf(toolExecution), 'How to run the tool calls of one response.', '`parallel`'))),
  batch_size: whole(1, 'Concurrent calls with `batched`.', defaultBatch),
  search_servers: flag('Offers the model a search tool and its matches, instead of all MCP tools.', '`false`'),
  offload_over: whole(1, 'Saves longer results, in characters, to a file in the workspace. Requires `read_file`.', 'off'),
  instances: tables<ToolInstanceSection>(toolInstanceKeys, 'MCP servers, as in `[[mcp.servers]]`.'),
}

/** `[tools]`: the agent's tools. */
export interface ToolsSection extends FieldsOf<typeof toolsKeys> {}

const contextSizeKeys = {
  max_context_tokens: whole(1, 'Maximum tokens of a prompt. If unset, compaction is off.'),
  system_prompt_tokens: whole(0, 'Tokens reserved for system prompt and tools.', defaultSystemPromptTokens),
}

const keptKeys = {
  keep_first_turns: alias('keep_first', whole(0, 'Number of initial turns to keep.', compacted.keepFirstTurns)),
  keep_recent_turns: alias('keep_recent', whole(0, 'Number of recent turns to keep.', compacted.keepRecentTurns)),
  tool_output_max_lines: whole(1, 'Maximum lines of a tool result after compaction.', compacted.toolOutputMaxLines),
}

const scopeOf = (scope: number | 'token_budget'): CompactionScope =>
  typeof scope === 'number' ? { type: 'fixedCount', count: scope } : { type: 'tokenBudget' }

export const compactionSettingsKeys = {
  ...contextSizeKeys,
  compact_at_pct: number(0, 'Fraction of the context that triggers compaction.', compacted.compactAtPct, 1),
  compact_budget_threshold_pct: number(0, 'Fraction that must stay free below `compact_at_pct`.', compacted.compactBudgetThresholdPct, 1),
  compaction_scope: alias('scope', wholeOr(1, 'token_budget', scopeOf, 'Number of loops to summarize.', compacted.scope.count)),
  ...keptKeys,
  max_summary_tokens: whole(1, 'Maximum tokens of all summaries together.', compacted.maxSummaryTokens),
  focus_message: as('sent', text('Topic that the summary focuses on. If set, the model writes the summary.')),
}

/** Settings of compaction. */
export interface CompactionSettings extends FieldsOf<typeof compactionSettingsKeys> {}

const compactionInstanceKeys = {
  id: required(id('compaction')),
  description: text('For display only.'),
  ...compactionSettingsKeys,
}

/** `[[compaction.instances]]`: a variant that profiles can select. */
export interface CompactionInstanceSection extends FieldsOf<typeof compactionInstanceKeys> {}

const compactionKeys = {
  ...compactionSettingsKeys,
  instances: tables<CompactionInstanceSection>(compactionInstanceKeys, 'Named variants for profiles.'),
}

/** `[compaction]`, `[context.compaction]`: compaction of long conversations. */
export interface CompactionSection extends FieldsOf<typeof compactionKeys> {}

const contextKeys = {
  ...contextSizeKeys,
  ...keptKeys,
  compaction: table<CompactionSection>(compactionKeys, 'Alias of `[compaction]`.'),
}

/** `[context]`: the specification's alternative to `[compaction]`. */
export interface ContextSection extends FieldsOf<typeof contextKeys> {}

export const retryKeys = {
  max_retries: whole(0, 'Maximum retries after the first attempt.', defaultRetry.maxRetries),
  initial_delay_ms: whole(0, 'Delay before the first retry in milliseconds.', defaultRetry.initialDelayMs),
  backoff_multiplier: number(1, 'Factor by which each delay grows.', defaultRetry.backoffMultiplier),
  max_delay_ms: whole(0, 'Maximum delay in milliseconds.', defaultRetry.maxDelayMs),
}
interface RetrySection extends FieldsOf<typeof retryKeys> {}

export const cacheKeys = {
  enabled: flag('Whether to cache prompts.', '`true`'),
  strategy: word(['auto', 'disabled'], 'Placement of cache breakpoints.', '`auto`'),
}
interface CacheSection extends FieldsOf<typeof cacheKeys> {}

export const executionKeys = {
  max_turns: whole(1, 'Maximum model calls.', defaultLimits.maxTurns),
  max_same_refusals: whole(1, 'Maximum consecutive turns that only repeat the same rejected tool call.', defaultMaxSameRefusals),
  max_searches: whole(0, 'Maximum searches that the provider runs.'),
  max_continuations: whole(0, 'Maximum continuations of a paused response within one turn.', defaultMaxContinuations),
  max_total_tokens: whole(1, 'Maximum input and output tokens.', defaultLimits.maxTotalTokens),
  max_duration_secs: seconds('Maximum duration in seconds.', defaultLimits.maxDurationMs),
  max_cost: number(0, 'Maximum cost in USD, including sub-agents. Prices come from `[provider.cost]` or the `catalogue`.'),
  retry: table<RetrySection>(retryKeys, 'Retries of failed model calls.'),
  cache: table<CacheSection>(cacheKeys, 'Prompt caching.'),
}

/** `[execution]`: limits of a run, retries and caching. */
export interface ExecutionSection extends FieldsOf<typeof executionKeys> {}

const script = (about: string) => as('script', text(`Script: ${about}`))
export const callbacksKeys = {
  before_loop: script('can veto the run.'),
  after_loop: script('receives the end of a run.'),
  before_turn: script('can veto a model call.'),
  after_turn: script('receives a response.'),
  before_tool_execution: script('can veto a tool call.'),
  after_tool_execution: script('receives the result of a tool call.'),
  before_tool_execution_update: script('can suppress a progress report.'),
  after_tool_execution_update: script('receives a progress report.'),
  before_compaction_start: script('can veto a compaction.'),
  after_compaction_end: script('receives the token counts of a compaction.'),
  on_error: script('receives a failed model call.'),
  before_task: text('Rejected. Use `withTaskHooks` from `phi-core/session` in code.'),
  after_task: text('Rejected, like `before_task`.'),
} satisfies Record<InFile<ScriptableHook> | 'before_task' | 'after_task', Key>

/** `[callbacks]`: scripts that run at fixed points of a run. */
export interface CallbacksSection extends FieldsOf<typeof callbacksKeys> {}

const hooksKeys = {
  transform_context: text('Rejected, because a file cannot contain a function. Use `agent.configure`.'),
  convert_to_llm: text('Rejected, like `transform_context`.'),
}

/** `[hooks]`: plugin functions. Files cannot contain functions, so each key is rejected by name. */
export interface HooksSection extends FieldsOf<typeof hooksKeys> {}

const skillsKeys = { paths: texts('Skill directories in the workspace. Later directories take precedence.') }

/** `[skills]`: skill folders in the workspace. */
export interface SkillsSection extends FieldsOf<typeof skillsKeys> {}

const mcpKeys = { servers: tables<McpServerSection>(mcpServerKeys, 'MCP servers. Every agent gets their tools.') }
interface McpSection extends FieldsOf<typeof mcpKeys> {}

/** All keys of an agent file. */
const configTable = {
  default_workspace: as('workspace', text('Working directory of agents that do not set one.', '`.`')),
  agent: table<AgentSection>(agentKeys, 'Settings of the agent.'),
  provider: table<ProviderSection>(providerKeys, 'The model.'),
  session: as('local', table<SessionSection>(sessionKeys, 'Session storage and overrides.')),
  media: table<MediaSection>(mediaKeys, 'Downloads of images and files by URL, for providers that do not fetch them.'),
  tools: table<ToolsSection>(toolsKeys, 'Tools of the agent.'),
  client_tools: instances(tables<ClientToolSection>(clientToolKeys, 'A client tool, available to every agent.'), 'Client tools.'),
  choices: as('local', table<ChoicesSection>(choicesKeys, 'Options that a prompt can select by name.')),
  compaction: as('local', table<CompactionSection>(compactionKeys, 'Compaction of long conversations.')),
  context: as('local', table<ContextSection>(contextKeys, 'Alternative location of `[compaction]`.')),
  execution: as('local', table<ExecutionSection>(executionKeys, 'Run limits, retries and caching.')),
  sub_agents: instances(
    tables<SubAgentSection>(subAgentKeys, 'A sub-agent that other agents call as a tool.'),
    'Sub-agents that run tasks for other agents.',
  ),
  system_prompt_strategy: instances(tables<PromptStrategySection>(strategyKeys, 'Parts of system prompts.'), 'System prompt strategies.'),
  system_prompt: instances(
    openTables<PromptSection>(promptKeys, promptText, 'Texts of the parts, by block name.'),
    'System prompts composed of parts.',
  ),
  skills: as('local', table<SkillsSection>(skillsKeys, 'Locations of skills.')),
  mcp: table<McpSection>(mcpKeys, 'MCP servers.'),
  callbacks: as('local', table<CallbacksSection>(callbacksKeys, 'Scripts that run at lifecycle events of a run.')),
  hooks: as('local', table<HooksSection>(hooksKeys, 'Hooks of plugins.')),
}

/** Contents of an agent file as an object with the same keys. Only a model is required. */
export interface AgentConfig extends FieldsOf<typeof configTable> {}

/** The whole file. */
export const root: Key = table<AgentConfig>(configTable, 'An agent file of phi-core')
