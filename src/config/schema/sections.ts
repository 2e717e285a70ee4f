import { mostTemperature, thinkingLevel } from '../../contract/model/request-settings.ts'
import { toolExecution } from '../../contract/run/settings.ts'
import { sessionScope } from '../../contract/session/session.ts'
import { tagsOf } from '../../contract/shape/shape.ts'
import type {
  AgentConfig,
  AgentInstanceSection,
  AgentSection,
  CallbacksSection,
  CompactionInstanceSection,
  CompactionSection,
  CompactionSettings,
  CompatSection,
  ContextSection,
  CostSection,
  ExecutionSection,
  HooksSection,
  McpServerSection,
  ModelSection,
  ProfileInstanceSection,
  ProfileSection,
  PromptStrategySection,
  ProviderInstanceSection,
  ProviderSection,
  SessionSection,
  SkillsSection,
  SubAgentSection,
  ToolInstanceSection,
  ToolsSection,
} from '../config-types.ts'
import {
  flag,
  jsonTable,
  number,
  objects,
  record,
  type Section,
  table,
  tables,
  text,
  texts,
  whole,
  wholeOrWord,
  word,
} from './key-table.ts'
import { requestSettings } from './request-settings.ts'

/** What a configuration calls the protocols; the first of each line is the specification's. */
export const protocolWords: readonly string[] = [
  ...['anthropic_messages', 'anthropic'],
  ...['openai_completions', 'openai'],
  ...['openai_responses'],
  ...['azure_openai_responses', 'azure'],
  ...['google_generative_ai', 'google', 'gemini'],
  ...['google_vertex', 'vertex'],
  ...['bedrock_converse_stream', 'bedrock'],
  ...['scripted'],
]

const promptForms = 'The text itself, `file:path` in the workspace, or `{{system_prompt.id}}`.'
const id = (namespace: string) => text(`Its name in the namespace \`${namespace}\`, as \`{{name}}\`.`, { isRequired: true })
const thinking = (about: string, fallback?: string) => word(thinkingLevel.words, about, { ...(fallback !== undefined && { fallback }) })
const patience = (about: string, fallback: string) => wholeOrWord(1, ['none'], about, { fallback })

const cost: Section<CostSection> = {
  input_per_million: number(0, 'Input.', { fallback: '0' }),
  output_per_million: number(0, 'Output.', { fallback: '0' }),
  cache_read_per_million: number(0, 'Input from the cache.', { fallback: '0' }),
  cache_write_per_million: number(0, 'Input written to the cache.', { fallback: '0' }),
}

const compat: Section<CompatSection> = {
  supports_store: flag('It knows `store`.'),
  supports_developer_role: flag('It knows the role `developer`.'),
  supports_reasoning_effort: flag('It knows `reasoning_effort`.'),
  supports_usage_in_streaming: flag('It counts tokens in a stream.'),
  max_tokens_field: word(['max_tokens', 'max_completion_tokens'], 'What it calls the limit of an answer.'),
  requires_tool_result_name: flag('Tool results need the name of their tool.'),
  requires_assistant_after_tool_result: flag('Tool results must be followed by an answer.'),
  thinking_format: word(
    ['openai', 'open_ai', 'xai', 'qwen', 'openrouter', 'open_router', 'deepseek', 'deep_seek', 'together', 'chat_template'],
    'How it is asked to think.',
    { aliases: ['reasoning_format'] },
  ),
}

const model: Section<ModelSection> = {
  model: text('The id that is sent to the service.'),
  api_key: text('The key; keep it in the environment, and name the variable here.'),
  api: word(protocolWords, 'The protocol. It is not guessed from the model.', { fallback: '`anthropic_messages`' }),
  base_url: text('Where the service is.', { aliases: ['url'], fallback: 'the service of the protocol, or of `provider`' }),
  provider: text('Name for logs, loop ids and costs; one of `compatPresets` also says where the service is.', {
    fallback: 'by the protocol',
  }),
  name: text('Shown to people.', { fallback: 'the id' }),
  reasoning: flag('The model can think.', { fallback: 'by the model' }),
  context_window: whole(1, 'Tokens.', { fallback: 'by the protocol' }),
  max_tokens: whole(1, 'Tokens of an answer, where the profile says nothing.', { fallback: 'by the protocol' }),
  first_byte_timeout_ms: patience('How long the first byte of an answer is waited for.', '600,000; none for local servers'),
  idle_timeout_ms: patience('How long the next byte is waited for.', '300,000'),
  progress_timeout_ms: patience('How long the next content is waited for.', '600,000'),
  resource: text('Azure: the name of the resource, in place of `base_url`.'),
  project: text('Vertex: the project.'),
  location: text('Vertex: the location.', { fallback: '`global`' }),
  region: text('Bedrock: the region.', { fallback: '`us-east-1`' }),
  cost: table(cost, 'USD per million tokens. Without it `max_cost` does nothing.'),
  headers: record('Sent with every call.'),
  compat: table(compat, 'How a service deviates from OpenAI; `openai_completions` only.'),
  require_media: flag('Media that it does not take are an error before anything is sent.', { fallback: '`false`' }),
  server_tools: objects('Tools that the service runs, as the service declares them.'),
  body: jsonTable('Fields of the request as the service calls them, merged into it last.'),
  fallback: texts('`{{provider.id}}`, or the names of providers: asked in this order when this one fails.'),
  ...requestSettings,
}

const providerInstance: Section<ProviderInstanceSection> = {
  id: text('Its name in the namespace `provider`, as `{{name}}`; else `name` is.'),
  description: text('For people.'),
  ...model,
}

const provider: Section<ProviderSection> = {
  ...model,
  instances: tables(providerInstance, 'Other models. They take nothing from `[provider]`.'),
}

const profile: Section<ProfileSection> = {
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

const profileInstance: Section<ProfileInstanceSection> = { id: id('agent_profile'), ...profile }

const agentInstance: Section<AgentInstanceSection> = {
  name: text('Its name, unique.', { fallback: '`unnamed`' }),
  agent_profile: text('`{{agent_profile.id}}`.', { fallback: '`[agent.profile]`' }),
  profile: table(profile, 'What it has in place of what its profile says.'),
  system_prompt: text(promptForms),
  provider: text('`{{provider.id}}`, or the name of one.', { fallback: '`[provider]`' }),
  workspace: text('The directory it works in.'),
}

const agent: Section<AgentSection> = {
  system_prompt: text(`${promptForms} Wins over profiles.`),
  workspace: text('The directory of agents that say no other.', { fallback: '`default_workspace`' }),
  profile: table(
    { ...profile, instances: tables(profileInstance, 'Variations of the profile; what they leave out is as in `[agent.profile]`.') },
    'Settings that agents share.',
  ),
  instances: tables(agentInstance, 'Several agents, for `agentsFromConfig`.'),
}

const session: Section<SessionSection> = {
  scope: word(sessionScope.words, 'Whether conversations are kept, in the store of the host.', { fallback: '`ephemeral`' }),
  thinking_level: thinking('Wins over profiles.'),
  temperature: number(0, 'Wins over profiles.', { most: mostTemperature }),
}

const { name: serverName, ...connection }: Section<McpServerSection> = {
  name: text('Its name, which stands before the names of its tools.', { isRequired: true }),
  enabled: flag('Whether it is used.', { fallback: '`true`' }),
  transport: word(['stdio', 'http'], 'A program that is started, or a service.', { fallback: 'by `command` or `url`' }),
  command: text('stdio: the program.'),
  args: texts('stdio: its arguments.'),
  env: record('stdio: its environment, beside what every program needs.'),
  url: text('http: its address.'),
  headers: record('http: sent with every request.'),
  include: texts('Names of tools, as the server calls them.', { fallback: 'all' }),
  timeout_secs: number(0.001, 'Seconds for a call.', { fallback: '30' }),
}
const { enabled, ...config } = connection

const toolInstance: Section<ToolInstanceSection> = {
  name: serverName,
  enabled,
  config: table(config, 'How it is reached; see `[[mcp.servers]]`.', { isRequired: true }),
}

const tools: Section<ToolsSection> = {
  enabled: texts('Names of tools. `prun`, `revert` and sub-agents may be among them.', { fallback: 'none' }),
  tool_strategy: word(tagsOf(toolExecution), 'How several calls of one answer are run.', {
    aliases: ['strategy'],
    fallback: '`parallel`',
  }),
  batch_size: whole(1, 'Calls at a time, of `batched`.', { fallback: '3' }),
  instances: tables(toolInstance, 'MCP servers, as in `[[mcp.servers]]`.'),
}

const contextSize = {
  max_context_tokens: whole(1, 'Tokens of a prompt. Without it nothing is compacted.'),
  system_prompt_tokens: whole(0, 'Kept free for system prompt and tools.', { fallback: '4,000' }),
}
const kept = {
  keep_first_turns: whole(0, 'Turns at the beginning that stay.', { aliases: ['keep_first'], fallback: '2' }),
  keep_recent_turns: whole(0, 'Turns at the end that stay.', { aliases: ['keep_recent'], fallback: '10' }),
  tool_output_max_lines: whole(1, 'Lines of a tool output that stay.', { fallback: '50' }),
}
const compactionSettings: Section<CompactionSettings> = {
  ...contextSize,
  compact_at_pct: number(0, 'Share that may be used.', { most: 1, fallback: '0.90' }),
  compact_budget_threshold_pct: number(0, 'Share that must stay free below that.', { most: 1, fallback: '0.05' }),
  compaction_scope: wholeOrWord(1, ['token_budget'], 'Loops that are summarised.', { aliases: ['scope'], fallback: '3' }),
  ...kept,
  max_summary_tokens: whole(1, 'Tokens of all summaries.', { fallback: '2,000' }),
  focus_message: text('What a summary keeps above all. With it, the model writes the summary.'),
}
const compactionInstance: Section<CompactionInstanceSection> = {
  id: id('compaction'),
  description: text('For people.'),
  ...compactionSettings,
}
const compaction: Section<CompactionSection> = {
  ...compactionSettings,
  instances: tables(compactionInstance, 'Variations that profiles refer to.'),
}

const context: Section<ContextSection> = {
  ...contextSize,
  ...kept,
  compaction: table(compaction, 'The same as `[compaction]`.'),
}

const execution: Section<ExecutionSection> = {
  max_turns: whole(1, 'Model calls.', { fallback: '50' }),
  max_same_refusals: whole(1, 'Turns in a row that come to nothing but the same refused call.', { fallback: '3' }),
  max_searches: whole(0, 'Searches that services run by themselves.'),
  max_continuations: whole(0, 'How often an answer that its service paused is continued within one turn.', { fallback: '10' }),
  max_total_tokens: whole(1, 'Tokens, in and out.', { fallback: '1,000,000' }),
  max_duration_secs: number(0.001, 'Seconds.', { fallback: '600' }),
  max_cost: number(0, 'USD, by `[provider.cost]`; sub-agents count.'),
  retry: table(
    {
      max_retries: whole(0, 'Tries after the first.', { fallback: '3' }),
      initial_delay_ms: whole(0, 'Milliseconds.', { fallback: '1,000' }),
      backoff_multiplier: number(1, 'By how much each wait is longer.', { fallback: '2' }),
      max_delay_ms: whole(0, 'Milliseconds.', { fallback: '30,000' }),
    },
    'How failed model calls are repeated.',
  ),
  cache: table(
    {
      enabled: flag('Whether prompts are cached.', { fallback: '`true`' }),
      strategy: word(['auto', 'disabled'], 'Where breakpoints are set.', { fallback: '`auto`' }),
    },
    'Prompt caching.',
  ),
}

const subAgent: Section<SubAgentSection> = {
  name: text('What the model calls it.', { isRequired: true }),
  id: text('Its name in the namespace `sub_agent`, as `{{name}}`.', { fallback: '`name`' }),
  description: text('What it is good at, for the model that calls it.', { isRequired: true }),
  system_prompt: text(promptForms),
  model: text('Another model of the same provider.'),
  provider: text('`{{provider.id}}`, or the name of one.', { fallback: '`[provider]`' }),
  thinking_level: thinking('How deep its model thinks.', '`off`'),
  ...requestSettings,
  max_tokens: whole(1, 'Tokens of an answer.'),
  max_turns: whole(1, 'Model calls of a task.', { fallback: '10' }),
  max_total_tokens: whole(1, 'Tokens of a task.', { fallback: '1,000,000' }),
  max_duration_secs: number(0.001, 'Seconds of a task.', { fallback: '300' }),
  skills: texts('Names of its skills, out of those that are loaded. It needs a tool that reads them.', { fallback: 'none' }),
  tools: texts('Names of its tools; no sub-agents.', { fallback: 'none' }),
}

const strategy: Section<PromptStrategySection> = {
  id: id('system_prompt_strategy'),
  description: text('For people.'),
  blocks: tables(
    {
      name: text('Its name.', { isRequired: true }),
      order: whole(Number.MIN_SAFE_INTEGER, 'Smaller comes first.', { fallback: '0' }),
      max_length: whole(1, 'Characters; what is longer is cut.', { fallback: '262,144' }),
    },
    'Its blocks.',
  ),
}

const prompt = {
  id: id('system_prompt'),
  description: text('For people.'),
  type: text('`{{system_prompt_strategy.id}}`. `agent` and `minimal` are there without being written.', {
    fallback: 'its texts, in the order of the file',
  }),
}

const script = (about: string) => text(`Script: ${about}`)
const callbacks: Section<CallbacksSection> = {
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

const hooks: Section<HooksSection> = {
  transform_context: text('Refused: a function, which a file cannot bring. `agent.configure` sets it.'),
  convert_to_llm: text('Refused, as `transform_context`.'),
}

const skills: Section<SkillsSection> = { paths: texts('Directories of the workspace with skills; later ones win.') }

/** Everything that an agent file may say. */
export const configTable: Section<AgentConfig> = {
  default_workspace: text('The directory of agents that say no other.', { fallback: '`.`' }),
  agent: table(agent, 'Who it is.'),
  provider: table(provider, 'The model.'),
  session: table(session, 'Whether conversations are kept.'),
  tools: table(tools, 'What it may use.'),
  compaction: table(compaction, 'How long conversations are made to fit.'),
  context: table(context, 'Another place for `[compaction]`.'),
  execution: table(execution, 'When a run stops by itself; retries and caching.'),
  sub_agents: table(
    { instances: tables(subAgent, 'Agents that all others call like tools.') },
    'Agents that work on tasks for the others.',
  ),
  system_prompt_strategy: table({ instances: tables(strategy, 'What parts prompts have.') }, 'Forms of system prompts.'),
  system_prompt: table(
    { instances: tables(prompt, 'Texts for the parts, each under the name of its block.', { isOpen: true }) },
    'System prompts made of parts.',
  ),
  skills: table(skills, 'Where skills are.'),
  mcp: table({ servers: tables({ name: serverName, ...connection }, 'Servers whose tools every agent gets.') }, 'Tools of other programs.'),
  callbacks: table(callbacks, 'Scripts at the fixed points of a run.'),
  hooks: table(hooks, 'Functions of plugins.'),
}
