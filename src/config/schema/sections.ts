import { defaultBackground, defaultTaskLimits } from '../../agent/sub-agent/sub-agent-tool.ts'
import { defaultCompactionConfig as compacted, defaultSystemPromptTokens } from '../../context/tokens/context-limits.ts'
import { defaultMaxMediaBytes } from '../../contract/message/media.ts'
import { thinkingLevel } from '../../contract/model/request-settings.ts'
import {
  defaultLimits,
  defaultMaxContinuations,
  defaultMaxSameRefusals,
  defaultRetry,
  onRunEnd,
  toolExecution,
} from '../../contract/run/settings.ts'
import { sessionScope } from '../../contract/session/session.ts'
import { type FieldsOf, tagsOf } from '../../contract/shape/shape.ts'
import { defaultCallMs, defaultTotalMs } from '../../mcp/tool-set.ts'
import { defaultMediaTimeoutMs } from '../../media/fetch-media.ts'
import { priorityWord } from '../../providers/compose/limiter.ts'
import { flag, instances, number, record, required, setting, table, tables, text, texts, whole, wholeOrWord, word } from './key-table.ts'
import { type ProviderSection, provider, requestSettings } from './model-sections.ts'
import { type ChoicesSection, type ClientToolSection, choices, clientTool } from './page-sections.ts'

/** Characters of one prompt, or of a block that has no limit of its own; bytes of a file for one. */
export const maxPrompt = 262_144
const priorityIs = 'Who goes first at the `limiter` of its model. `background`: nobody waits for its answers.'
/** Calls at a time. */
export const defaultBatch = 3

const promptForms = 'The text itself, `file:path` in the workspace, or `{{system_prompt.id}}`.'
const id = (namespace: string) => required(text(`Its name in the namespace \`${namespace}\`, as \`{{name}}\`.`))
const thinking = (about: string, fallback?: string) => word(thinkingLevel.words, about, { ...(fallback !== undefined && { fallback }) })

const profile = {
  profile_id: text('An id of its own, to refer to as `{{#id#}}`.'),
  name: text('For people.'),
  description: text('For people.'),
  system_prompt: text(promptForms),
  thinking_level: thinking('How deep the model thinks.', '`off`'),
  ...requestSettings,
  max_tokens: whole(1, 'Tokens of an answer.', { fallback: 'that of the model' }),
  config_id: text('Middle part of loop ids.'),
  skills: texts('Names of skills, out of those that are loaded. They are not tools.', { fallback: 'all' }),
  workspace: text('The directory it works in.'),
  compaction: text('`{{compaction.id}}`: a variation of `[compaction]`.'),
}

/** `[agent.profile]`: settings that several agents may share. */
export interface ProfileSection extends FieldsOf<typeof profile> {}

const profileInstance = { id: id('agent_profile'), ...profile }

/** `[[agent.profile.instances]]`: a variation of the profile. */
export interface ProfileInstanceSection extends FieldsOf<typeof profileInstance> {}

const agentInstance = {
  name: text('Its name, unique.', { fallback: '`unnamed`' }),
  agent_profile: text('`{{agent_profile.id}}`.', { fallback: '`[agent.profile]`' }),
  profile: table<ProfileSection>(profile, 'What it has in place of what its profile says.'),
  system_prompt: text(promptForms),
  provider: text('`{{provider.id}}`, or the name of one.', { fallback: '`[provider]`' }),
  priority: word(priorityWord.words, priorityIs, { fallback: '`person`' }),
  workspace: text('The directory it works in.'),
}

/** `[[agent.instances]]`: one of several agents. */
export interface AgentInstanceSection extends FieldsOf<typeof agentInstance> {}

const agent = {
  system_prompt: text(`${promptForms} Wins over profiles.`),
  workspace: text('The directory of agents that say no other.', { fallback: '`default_workspace`' }),
  plugins: texts(
    'Paths of modules, relative to the folder of this file, whose plugins join the runs of every agent. They are code: this needs trust.',
    {
      fallback: 'none',
    },
  ),
  profile: table<ProfileSection & { instances?: ProfileInstanceSection[] }>(
    {
      ...profile,
      instances: tables<ProfileInstanceSection>(
        profileInstance,
        'Variations of the profile; what they leave out is as in `[agent.profile]`.',
      ),
    },
    'Settings that agents share.',
  ),
  instances: tables<AgentInstanceSection>(agentInstance, 'Several agents, for `agentsFromConfig`.'),
}

/** `[agent]`: who it is. */
export interface AgentSection extends FieldsOf<typeof agent> {}

const media = {
  hosts: required(
    texts(
      'Hosts that are asked: `files.example.com`, with its port where that is not 443, or `*.example.com` for all below it. Needs trust.',
    ),
  ),
  max_bytes: whole(1, 'Bytes; more is refused.', { fallback: defaultMaxMediaBytes }),
  timeout_secs: number(0.001, 'Seconds for all of it.', { fallback: defaultMediaTimeoutMs / 1000 }),
}

/** `[media]`: from where pictures and files that have an address are fetched, for services that do not fetch them. */
export interface MediaSection extends FieldsOf<typeof media> {}

const session = {
  scope: word(sessionScope.words, 'Whether conversations are kept, in the store of the host.', { fallback: '`ephemeral`' }),
  thinking_level: thinking('Wins over profiles.'),
  temperature: setting('temperature', 'Wins over profiles.'),
}

/** `[session]`: whether conversations are kept. */
export interface SessionSection extends FieldsOf<typeof session> {}

const serverName = required(text('Its name, which stands before the names of its tools.'))
const enabled = flag('Whether it is used.', { fallback: '`true`' })
const connection = {
  transport: word(['stdio', 'http'], 'A program that is started, or a service.', { fallback: 'by `command` or `url`' }),
  command: text('stdio: the program.'),
  args: texts('stdio: its arguments.'),
  env: record('stdio: its environment, beside what every program needs.'),
  url: text('http: its address.'),
  headers: record('http: sent with every request.'),
  include: texts('Names of tools, as the server calls them.', { fallback: 'all' }),
  timeout_secs: number(0.001, 'Seconds for a call.', { fallback: defaultCallMs / 1000 }),
  reset_timeout_on_progress: flag('Whether progress that it reports restarts the time of a call.', { fallback: '`true`' }),
  total_timeout_secs: number(0.001, 'Seconds for a whole call, whatever progress it makes.', {
    fallback: `${defaultTotalMs / 1000}, or \`timeout_secs\` if that is more`,
  }),
  roots: texts('stdio: folders that it is told to keep to, within the one that the agent works in.', { fallback: 'none' }),
  instructions: flag('Whether the system prompt holds what it says of how its tools are used.', { fallback: '`false`' }),
}
interface McpConnection extends FieldsOf<typeof connection> {}

const mcpServer = { name: serverName, enabled, ...connection }

/** `[[mcp.servers]]`: an MCP server whose tools the agent gets. */
export interface McpServerSection extends FieldsOf<typeof mcpServer> {}

const toolInstance = {
  name: serverName,
  enabled,
  config: required(table<McpConnection>(connection, 'How it is reached; see `[[mcp.servers]]`.')),
}

/** `[[tools.instances]]`: an MCP server, in the form of the specification's examples. */
export interface ToolInstanceSection extends FieldsOf<typeof toolInstance> {}

const tools = {
  enabled: texts('Names of tools. `prun`, `revert` and sub-agents may be among them.', { fallback: 'none' }),
  tool_strategy: word(tagsOf(toolExecution), 'How several calls of one answer are run.', {
    aliases: ['strategy'],
    fallback: '`parallel`',
  }),
  batch_size: whole(1, 'Calls at a time, of `batched`.', { fallback: defaultBatch }),
  search_servers: flag('The model is shown a search in place of the tools of MCP servers, and those that it finds.', {
    fallback: '`false`',
  }),
  offload_over: whole(1, 'Characters from which on a result is written to a file of the workspace. `read_file` must be enabled.', {
    fallback: 'none is',
  }),
  instances: tables<ToolInstanceSection>(toolInstance, 'MCP servers, as in `[[mcp.servers]]`.'),
}

/** `[tools]`: what the agent may use. */
export interface ToolsSection extends FieldsOf<typeof tools> {}

const contextSize = {
  max_context_tokens: whole(1, 'Tokens of a prompt. Without it nothing is compacted.'),
  system_prompt_tokens: whole(0, 'Kept free for system prompt and tools.', { fallback: defaultSystemPromptTokens }),
}

const kept = {
  keep_first_turns: whole(0, 'Turns at the beginning that stay.', { aliases: ['keep_first'], fallback: compacted.keepFirstTurns }),
  keep_recent_turns: whole(0, 'Turns at the end that stay.', { aliases: ['keep_recent'], fallback: compacted.keepRecentTurns }),
  tool_output_max_lines: whole(1, 'Lines of a tool output that stay.', { fallback: compacted.toolOutputMaxLines }),
}

const compactionSettings = {
  ...contextSize,
  compact_at_pct: number(0, 'Share that may be used.', { most: 1, fallback: compacted.compactAtPct }),
  compact_budget_threshold_pct: number(0, 'Share that must stay free below that.', {
    most: 1,
    fallback: compacted.compactBudgetThresholdPct,
  }),
  compaction_scope: wholeOrWord(1, ['token_budget'], 'Loops that are summarised.', { aliases: ['scope'], fallback: compacted.scope.count }),
  ...kept,
  max_summary_tokens: whole(1, 'Tokens of all summaries.', { fallback: compacted.maxSummaryTokens }),
  focus_message: text('The subject that a summary keeps above all. With it, the model writes the summary.'),
}

/** What a compaction can be told. */
export interface CompactionSettings extends FieldsOf<typeof compactionSettings> {}

const compactionInstance = {
  id: id('compaction'),
  description: text('For people.'),
  ...compactionSettings,
}

/** `[[compaction.instances]]`: a variation that profiles refer to. */
export interface CompactionInstanceSection extends FieldsOf<typeof compactionInstance> {}

const compaction = {
  ...compactionSettings,
  instances: tables<CompactionInstanceSection>(compactionInstance, 'Variations that profiles refer to.'),
}

/** `[compaction]`, `[context.compaction]`: how long conversations are made to fit. */
export interface CompactionSection extends FieldsOf<typeof compaction> {}

const context = {
  ...contextSize,
  ...kept,
  compaction: table<CompactionSection>(compaction, 'The same as `[compaction]`.'),
}

/** `[context]`: the specification's other place for what `[compaction]` says. */
export interface ContextSection extends FieldsOf<typeof context> {}

const retry = {
  max_retries: whole(0, 'Tries after the first.', { fallback: defaultRetry.maxRetries }),
  initial_delay_ms: whole(0, 'Milliseconds.', { fallback: defaultRetry.initialDelayMs }),
  backoff_multiplier: number(1, 'By how much each wait is longer.', { fallback: defaultRetry.backoffMultiplier }),
  max_delay_ms: whole(0, 'Milliseconds.', { fallback: defaultRetry.maxDelayMs }),
}
interface RetrySection extends FieldsOf<typeof retry> {}

const cache = {
  enabled: flag('Whether prompts are cached.', { fallback: '`true`' }),
  strategy: word(['auto', 'disabled'], 'Where breakpoints are set.', { fallback: '`auto`' }),
}
interface CacheSection extends FieldsOf<typeof cache> {}

const execution = {
  max_turns: whole(1, 'Model calls.', { fallback: defaultLimits.maxTurns }),
  max_same_refusals: whole(1, 'Turns in a row that come to nothing but the same refused call.', { fallback: defaultMaxSameRefusals }),
  max_searches: whole(0, 'Searches that services run by themselves.'),
  max_continuations: whole(0, 'How often an answer that its service paused is continued within one turn.', {
    fallback: defaultMaxContinuations,
  }),
  max_total_tokens: whole(1, 'Tokens, in and out.', { fallback: defaultLimits.maxTotalTokens }),
  max_duration_secs: number(0.001, 'Seconds.', { fallback: defaultLimits.maxDurationMs / 1000 }),
  max_cost: number(0, 'USD, by `[provider.cost]` or the `catalogue`; sub-agents count.'),
  retry: table<RetrySection>(retry, 'How failed model calls are repeated.'),
  cache: table<CacheSection>(cache, 'Prompt caching.'),
}

/** `[execution]`: when a run stops by itself, and how calls are repeated and cached. */
export interface ExecutionSection extends FieldsOf<typeof execution> {}

const subAgent = {
  name: required(text('The name by which the model calls it.')),
  id: text('Its name in the namespace `sub_agent`, as `{{name}}`.', { fallback: '`name`' }),
  description: required(text('What it is good at, for the model that calls it.')),
  system_prompt: text(promptForms),
  model: text('Another model of the same provider.'),
  provider: text('`{{provider.id}}`, or the name of one.', { fallback: '`[provider]`' }),
  thinking_level: thinking('How deep its model thinks.', '`off`'),
  ...requestSettings,
  max_tokens: whole(1, 'Tokens of an answer.'),
  max_turns: whole(1, 'Model calls of a task.', { fallback: defaultTaskLimits.maxTurns }),
  max_total_tokens: whole(1, 'Tokens of a task.', { fallback: defaultTaskLimits.maxTotalTokens }),
  max_duration_secs: number(0.001, 'Seconds of a task.', { fallback: defaultTaskLimits.maxDurationMs / 1000 }),
  skills: texts('Names of its skills, out of those that are loaded. It needs a tool that reads them.', { fallback: 'none' }),
  tools: texts('Names of its tools; no sub-agents.', { fallback: 'none' }),
  background: flag('Whether its tasks go on beside the run, which is told when they have ended.', { fallback: '`false`' }),
  on_run_end: word(onRunEnd.words, 'Whether a run with nothing else to do waits for tasks in the background, or stops them.', {
    fallback: `\`${defaultBackground.onRunEnd}\``,
  }),
  max_running: whole(1, 'Tasks in the background at a time.', { fallback: defaultBackground.maxRunning }),
  priority: word(priorityWord.words, priorityIs, {
    fallback: '`person`; `background` for tasks in the background',
  }),
}

/** `[[sub_agents.instances]]`: an agent that the others call like a tool. It takes nothing from them but the model where it names none. */
export interface SubAgentSection extends FieldsOf<typeof subAgent> {}

const block = {
  name: required(text('Its name.')),
  order: whole(Number.MIN_SAFE_INTEGER, 'Smaller comes first.', { fallback: '0' }),
  max_length: whole(1, 'Characters; what is longer is cut.', { fallback: maxPrompt }),
}
interface BlockSection extends FieldsOf<typeof block> {}

const strategy = {
  id: id('system_prompt_strategy'),
  description: text('For people.'),
  blocks: tables<BlockSection>(block, 'Its blocks.'),
}

/** `[[system_prompt_strategy.instances]]`: the blocks of a system prompt. */
export interface PromptStrategySection extends FieldsOf<typeof strategy> {}

const prompt = {
  id: id('system_prompt'),
  description: text('For people.'),
  type: text('`{{system_prompt_strategy.id}}`. `agent` and `minimal` are there without being written.', {
    fallback: 'its texts, in the order of the file',
  }),
}

interface PromptKeys extends FieldsOf<typeof prompt> {}

/** `[[system_prompt.instances]]`: texts for the blocks of a strategy, each under the name of its block. */
export interface PromptSection extends PromptKeys {
  [block: string]: string | undefined
}

const script = (about: string) => text(`Script: ${about}`)
const callbacks = {
  before_loop: script('may refuse the run.'),
  after_loop: script('told of its end.'),
  before_turn: script('may refuse a model call.'),
  after_turn: script('told of an answer.'),
  before_tool_execution: script('may refuse a tool call.'),
  after_tool_execution: script('told of its result.'),
  before_tool_execution_update: script('may hold back a report.'),
  after_tool_execution_update: script('told of a report.'),
  before_compaction_start: script('may refuse a compaction.'),
  after_compaction_end: script('told of its figures.'),
  on_error: script('told of a model call that failed.'),
  before_task: text('Refused: `withTaskHooks` of `phi-core/session` does this in code.'),
  after_task: text('Refused, as `before_task`.'),
}

/** `[callbacks]`: scripts at the fixed points of a run. */
export interface CallbacksSection extends FieldsOf<typeof callbacks> {}

const hooks = {
  transform_context: text('Refused: a function, which a file cannot bring. `agent.configure` sets it.'),
  convert_to_llm: text('Refused, as `transform_context`.'),
}

/** `[hooks]`: functions of plugins, which no file can bring along: each is refused by name. */
export interface HooksSection extends FieldsOf<typeof hooks> {}

const skills = { paths: texts('Directories of the workspace with skills; later ones win.') }

/** `[skills]`: where skills are, in the workspace. */
export interface SkillsSection extends FieldsOf<typeof skills> {}

const mcp = { servers: tables<McpServerSection>(mcpServer, 'Servers whose tools every agent gets.') }
interface McpSection extends FieldsOf<typeof mcp> {}

/** Everything that an agent file may say. */
export const configTable = {
  default_workspace: text('The directory of agents that say no other.', { fallback: '`.`' }),
  agent: table<AgentSection>(agent, 'Who it is.'),
  provider: table<ProviderSection>(provider, 'The model.'),
  session: table<SessionSection>(session, 'Whether conversations are kept.'),
  media: table<MediaSection>(media, 'Pictures and files by address, for services that do not fetch them.'),
  tools: table<ToolsSection>(tools, 'What it may use.'),
  client_tools: instances<ClientToolSection>(clientTool, 'A tool that a page runs. Every agent has it.', 'Tools that pages run.'),
  choices: table<ChoicesSection>(choices, 'What prompts may choose by name.'),
  compaction: table<CompactionSection>(compaction, 'How long conversations are made to fit.'),
  context: table<ContextSection>(context, 'Another place for `[compaction]`.'),
  execution: table<ExecutionSection>(execution, 'When a run stops by itself; retries and caching.'),
  sub_agents: instances<SubAgentSection>(subAgent, 'Agents that all others call like tools.', 'Agents that work on tasks for the others.'),
  system_prompt_strategy: instances<PromptStrategySection>(strategy, 'What parts prompts have.', 'Forms of system prompts.'),
  system_prompt: instances<PromptSection>(
    prompt,
    'Texts for the parts, each under the name of its block.',
    'System prompts made of parts.',
    { isOpen: true },
  ),
  skills: table<SkillsSection>(skills, 'Where skills are.'),
  mcp: table<McpSection>(mcp, 'Tools of other programs.'),
  callbacks: table<CallbacksSection>(callbacks, 'Scripts at the fixed points of a run.'),
  hooks: table<HooksSection>(hooks, 'Functions of plugins.'),
}

/**
 * An agent file as an object, in the words of the file. Everything is optional, a model to call excepted. What it says is explained key by
 * key on the page. Source: docs/concepts/configuration.md
 */
export interface AgentConfig extends FieldsOf<typeof configTable> {}
