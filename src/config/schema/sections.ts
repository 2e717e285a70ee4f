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

/** Concurrent calls. */
export const defaultBatch = 3

const hostForms =
  'Hosts that are asked: `files.example.com`, with its port where that is not 443, or `*.example.com` for all below it. Needs trust.'

export const mediaKeys = {
  hosts: as('media', required(texts(hostForms))),
  max_bytes: whole(1, 'Bytes; more is refused.', defaultMaxMediaBytes),
  timeout_secs: seconds('Seconds for all of it.', defaultMediaTimeoutMs),
}

/** `[media]`: hosts from which image and file URLs are fetched, for providers that do not fetch them. */
export interface MediaSection extends FieldsOf<typeof mediaKeys> {}

export const sessionKeys = {
  scope: word(sessionScope.words, 'Whether conversations are kept, in the store of the host.', '`ephemeral`'),
  thinking_level: mayBeEmpty(word(thinkingLevel.words, 'Wins over profiles.')),
  temperature: setting('temperature', 'Wins over profiles.'),
}

/** `[session]`: whether conversations are stored. */
export interface SessionSection extends FieldsOf<typeof sessionKeys> {}

const serverName = required(text('Its name, which stands before the names of its tools.'))
const enabled = flag('Whether it is used.', '`true`')
export const connectionKeys = {
  transport: word(['stdio', 'http'], 'A program that is started, or a service.', 'by `command` or `url`'),
  command: text('stdio: the program.'),
  args: texts('stdio: its arguments.'),
  env: record('stdio: environment variables, in addition to the default ones.'),
  url: as('choice', text('http: its address.')),
  headers: as('headers', record('http: sent with every request.')),
  include: texts('Names of tools, as the server calls them.', 'all'),
  timeout_secs: seconds('Seconds for a call.', defaultCallMs),
  reset_timeout_on_progress: flag('Whether progress that it reports restarts the time of a call.', '`true`'),
  total_timeout_secs: seconds(
    'Seconds for a whole call, whatever progress it makes.',
    `${defaultTotalMs / 1000}, or \`timeout_secs\` if that is more`,
  ),
  roots: texts('stdio: folders that the server may use (MCP roots), inside the working folder.', 'none'),
  instructions: flag('Whether the system prompt holds what it says of how its tools are used.', '`false`'),
}
interface McpConnection extends FieldsOf<typeof connectionKeys> {}

const mcpServerKeys = { name: serverName, enabled, ...connectionKeys }

/** `[[mcp.servers]]`: an MCP server whose tools the agent gets. */
export interface McpServerSection extends FieldsOf<typeof mcpServerKeys> {}

const toolInstanceKeys = {
  name: serverName,
  enabled,
  config: required(table<McpConnection>(connectionKeys, 'How it is reached; see `[[mcp.servers]]`.')),
}

/** `[[tools.instances]]`: an MCP server, as in the specification's examples. */
export interface ToolInstanceSection extends FieldsOf<typeof toolInstanceKeys> {}

export const toolsKeys = {
  enabled: as('local', texts('Names of tools. `prun`, `revert` and sub-agents may be among them.', 'none')),
  tool_strategy: as('local', alias('strategy', word(tagsOf(toolExecution), 'How several calls of one answer are run.', '`parallel`'))),
  batch_size: whole(1, 'Calls at a time, of `batched`.', defaultBatch),
  search_servers: flag('The model is shown a search in place of the tools of MCP servers, and those that it finds.', '`false`'),
  offload_over: whole(
    1,
    'Characters from which on a result is written to a file of the workspace. `read_file` must be enabled.',
    'none is',
  ),
  instances: tables<ToolInstanceSection>(toolInstanceKeys, 'MCP servers, as in `[[mcp.servers]]`.'),
}

/** `[tools]`: tools of the agent. */
export interface ToolsSection extends FieldsOf<typeof toolsKeys> {}

const contextSizeKeys = {
  max_context_tokens: whole(1, 'Tokens of a prompt. Without it nothing is compacted.'),
  system_prompt_tokens: whole(0, 'Kept free for system prompt and tools.', defaultSystemPromptTokens),
}

const keptKeys = {
  keep_first_turns: alias('keep_first', whole(0, 'Turns at the beginning that stay.', compacted.keepFirstTurns)),
  keep_recent_turns: alias('keep_recent', whole(0, 'Turns at the end that stay.', compacted.keepRecentTurns)),
  tool_output_max_lines: whole(1, 'Lines of a tool output that stay.', compacted.toolOutputMaxLines),
}

const scopeOf = (scope: number | 'token_budget'): CompactionScope =>
  typeof scope === 'number' ? { type: 'fixedCount', count: scope } : { type: 'tokenBudget' }

export const compactionSettingsKeys = {
  ...contextSizeKeys,
  compact_at_pct: number(0, 'Share that may be used.', compacted.compactAtPct, 1),
  compact_budget_threshold_pct: number(0, 'Share that must stay free below that.', compacted.compactBudgetThresholdPct, 1),
  compaction_scope: alias('scope', wholeOr(1, 'token_budget', scopeOf, 'Loops that are summarised.', compacted.scope.count)),
  ...keptKeys,
  max_summary_tokens: whole(1, 'Tokens of all summaries.', compacted.maxSummaryTokens),
  focus_message: as('sent', text('The subject that a summary keeps above all. With it, the model writes the summary.')),
}

/** Settings of compaction. */
export interface CompactionSettings extends FieldsOf<typeof compactionSettingsKeys> {}

const compactionInstanceKeys = {
  id: required(id('compaction')),
  description: text('For people.'),
  ...compactionSettingsKeys,
}

/** `[[compaction.instances]]`: a variant that profiles refer to. */
export interface CompactionInstanceSection extends FieldsOf<typeof compactionInstanceKeys> {}

const compactionKeys = {
  ...compactionSettingsKeys,
  instances: tables<CompactionInstanceSection>(compactionInstanceKeys, 'Variations that profiles refer to.'),
}

/** `[compaction]`, `[context.compaction]`: how long conversations are shortened. */
export interface CompactionSection extends FieldsOf<typeof compactionKeys> {}

const contextKeys = {
  ...contextSizeKeys,
  ...keptKeys,
  compaction: table<CompactionSection>(compactionKeys, 'The same as `[compaction]`.'),
}

/** `[context]`: the specification's alternative to `[compaction]`. */
export interface ContextSection extends FieldsOf<typeof contextKeys> {}

export const retryKeys = {
  max_retries: whole(0, 'Tries after the first.', defaultRetry.maxRetries),
  initial_delay_ms: whole(0, 'Milliseconds.', defaultRetry.initialDelayMs),
  backoff_multiplier: number(1, 'By how much each wait is longer.', defaultRetry.backoffMultiplier),
  max_delay_ms: whole(0, 'Milliseconds.', defaultRetry.maxDelayMs),
}
interface RetrySection extends FieldsOf<typeof retryKeys> {}

export const cacheKeys = {
  enabled: flag('Whether prompts are cached.', '`true`'),
  strategy: word(['auto', 'disabled'], 'Where breakpoints are set.', '`auto`'),
}
interface CacheSection extends FieldsOf<typeof cacheKeys> {}

export const executionKeys = {
  max_turns: whole(1, 'Model calls.', defaultLimits.maxTurns),
  max_same_refusals: whole(1, 'Turns in a row that come to nothing but the same refused call.', defaultMaxSameRefusals),
  max_searches: whole(0, 'Searches that services run by themselves.'),
  max_continuations: whole(0, 'How often an answer that its service paused is continued within one turn.', defaultMaxContinuations),
  max_total_tokens: whole(1, 'Tokens, in and out.', defaultLimits.maxTotalTokens),
  max_duration_secs: seconds('Seconds.', defaultLimits.maxDurationMs),
  max_cost: number(0, 'USD, by `[provider.cost]` or the `catalogue`; sub-agents count.'),
  retry: table<RetrySection>(retryKeys, 'How failed model calls are repeated.'),
  cache: table<CacheSection>(cacheKeys, 'Prompt caching.'),
}

/** `[execution]`: limits of a run, retries and caching. */
export interface ExecutionSection extends FieldsOf<typeof executionKeys> {}

const script = (about: string) => as('script', text(`Script: ${about}`))
export const callbacksKeys = {
  before_loop: script('can refuse the run.'),
  after_loop: script('receives the end of a run.'),
  before_turn: script('can refuse a model call.'),
  after_turn: script('receives a response.'),
  before_tool_execution: script('can refuse a tool call.'),
  after_tool_execution: script('receives the result of a tool call.'),
  before_tool_execution_update: script('can suppress a progress report.'),
  after_tool_execution_update: script('receives a progress report.'),
  before_compaction_start: script('can refuse a compaction.'),
  after_compaction_end: script('receives the numbers of a compaction.'),
  on_error: script('receives a failed model call.'),
  before_task: text('Refused: `withTaskHooks` of `phi-core/session` does this in code.'),
  after_task: text('Refused, as `before_task`.'),
} satisfies Record<InFile<ScriptableHook> | 'before_task' | 'after_task', Key>

/** `[callbacks]`: scripts that run at fixed points of a run. */
export interface CallbacksSection extends FieldsOf<typeof callbacksKeys> {}

const hooksKeys = {
  transform_context: text('Refused: a function, which a file cannot bring. `agent.configure` sets it.'),
  convert_to_llm: text('Refused, as `transform_context`.'),
}

/** `[hooks]`: plugin functions, which files cannot contain. Each is refused by name. */
export interface HooksSection extends FieldsOf<typeof hooksKeys> {}

const skillsKeys = { paths: texts('Directories of the workspace with skills; later ones win.') }

/** `[skills]`: folders with skills in the workspace. */
export interface SkillsSection extends FieldsOf<typeof skillsKeys> {}

const mcpKeys = { servers: tables<McpServerSection>(mcpServerKeys, 'Servers whose tools every agent gets.') }
interface McpSection extends FieldsOf<typeof mcpKeys> {}

/** All keys of an agent file. */
const configTable = {
  default_workspace: as('workspace', text('The directory of agents that say no other.', '`.`')),
  agent: table<AgentSection>(agentKeys, 'Who it is.'),
  provider: table<ProviderSection>(providerKeys, 'The model.'),
  session: as('local', table<SessionSection>(sessionKeys, 'Whether conversations are kept.')),
  media: table<MediaSection>(mediaKeys, 'Pictures and files by address, for services that do not fetch them.'),
  tools: table<ToolsSection>(toolsKeys, 'What it may use.'),
  client_tools: instances(
    tables<ClientToolSection>(clientToolKeys, 'A tool that a page runs. Every agent has it.'),
    'Tools that pages run.',
  ),
  choices: as('local', table<ChoicesSection>(choicesKeys, 'What prompts may choose by name.')),
  compaction: as('local', table<CompactionSection>(compactionKeys, 'How long conversations are made to fit.')),
  context: as('local', table<ContextSection>(contextKeys, 'Another place for `[compaction]`.')),
  execution: as('local', table<ExecutionSection>(executionKeys, 'When a run stops by itself; retries and caching.')),
  sub_agents: instances(
    tables<SubAgentSection>(subAgentKeys, 'Agents that all others call like tools.'),
    'Agents that work on tasks for the others.',
  ),
  system_prompt_strategy: instances(tables<PromptStrategySection>(strategyKeys, 'What parts prompts have.'), 'Forms of system prompts.'),
  system_prompt: instances(
    openTables<PromptSection>(promptKeys, promptText, 'Texts for the parts, each under the name of its block.'),
    'System prompts made of parts.',
  ),
  skills: as('local', table<SkillsSection>(skillsKeys, 'Where skills are.')),
  mcp: table<McpSection>(mcpKeys, 'Tools of other programs.'),
  callbacks: as('local', table<CallbacksSection>(callbacksKeys, 'Scripts at the fixed points of a run.')),
  hooks: as('local', table<HooksSection>(hooksKeys, 'Functions of plugins.')),
}

/** Contents of an agent file as an object, with the keys of the file. Only a model is required. */
export interface AgentConfig extends FieldsOf<typeof configTable> {}

/** The whole file. */
export const root: Key = table<AgentConfig>(configTable, 'An agent file of phi-core')
