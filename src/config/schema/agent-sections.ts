import { defaultBackground, defaultTaskLimits } from '../../agent/sub-agent/sub-agent-tool.ts'
import { thinkingLevel } from '../../contract/model/request-settings.ts'
import { onRunEnd } from '../../contract/run/settings.ts'
import type { FieldsOf } from '../../contract/shape/shape.ts'
import { priorityWord } from '../../providers/compose/limiter.ts'
import { defaultMaxResultChars, trustInPage } from '../../tools/client-tool.ts'
import { as, flag, id, jsonTable, mayBeEmpty, record, required, seconds, table, tables, text, texts, whole, word } from './key-table.ts'
import { requestSettingsKeys } from './model-sections.ts'

/** Maximum characters of a prompt or of a block without `max_length`. Also the maximum bytes of a prompt file. */
export const maxPrompt = 262_144
const priorityIs = "Priority in the model's `limiter`. `background`: no user is waiting for the response."

const inFileOrder = 'its blocks, in file order'
const promptForms = 'Prompt text, `file:path` in the workspace, or `{{system_prompt.id}}`.'
export const promptText = as('prompt', text(promptForms))

const thinking = (about: string, fallback?: string) => mayBeEmpty(word(thinkingLevel.words, about, fallback))

/** Profile settings that are agent options. */
export const agentSettingsKeys = {
  thinking_level: thinking('Thinking level of the model.', '`off`'),
  ...requestSettingsKeys,
  max_tokens: whole(1, 'Maximum tokens of a response.', "the model's limit"),
  config_id: mayBeEmpty(text('Middle part of loop ids.')),
}

const profileKeys = {
  profile_id: text('Unique id; refer to it as `{{#id#}}`.'),
  name: text('For display only.'),
  description: text('For display only.'),
  system_prompt: promptText,
  ...agentSettingsKeys,
  skills: texts('Names of loaded skills that the agent can use. Skills are not tools.', 'all'),
  workspace: as('workspace', text('Working directory of the agent.')),
  compaction: text('`{{compaction.id}}`, a variant of `[compaction]`.'),
}

/** `[agent.profile]`: settings that several agents can share. */
export interface ProfileSection extends FieldsOf<typeof profileKeys> {}

const profileInstanceKeys = { id: required(id('agent_profile')), ...profileKeys }

/** `[[agent.profile.instances]]`: a variation of the profile. */
export interface ProfileInstanceSection extends FieldsOf<typeof profileInstanceKeys> {}

export const agentInstanceKeys = {
  name: text('Unique name of the agent.', '`unnamed`'),
  agent_profile: text('`{{agent_profile.id}}`.', '`[agent.profile]`'),
  profile: table<ProfileSection>(profileKeys, 'Settings that override the profile.'),
  system_prompt: promptText,
  provider: text('`{{provider.id}}` or a provider name.', '`[provider]`'),
  priority: word(priorityWord.words, priorityIs, '`person`'),
  workspace: as('workspace', text('Working directory of the agent.')),
}

/** `[[agent.instances]]`: one of several agents. */
export interface AgentInstanceSection extends FieldsOf<typeof agentInstanceKeys> {}

export const agentKeys = {
  system_prompt: as('prompt', text(`${promptForms} Overrides profiles.`)),
  workspace: as('workspace', text('Working directory of agents that do not set one.', '`default_workspace`')),
  plugins: as(
    'plugin',
    texts('Paths of plugin modules for every agent, relative to the folder of this file. Plugins are code and require trust.', 'none'),
  ),
  context: as(
    'local',
    record('Strings that plugins receive as the `context` of a run, such as a token from a variable. Never sent or stored.'),
  ),
  profile: table<ProfileSection & { instances?: ProfileInstanceSection[] }>(
    {
      ...profileKeys,
      instances: tables<ProfileInstanceSection>(
        profileInstanceKeys,
        'Variations of the profile. Omitted keys use the values of `[agent.profile]`.',
      ),
    },
    'Shared agent settings.',
  ),
  instances: tables<AgentInstanceSection>(agentInstanceKeys, 'Agents for `agentsFromConfig`.'),
}

/** `[agent]`: the agent. */
export interface AgentSection extends FieldsOf<typeof agentKeys> {}

export const subAgentKeys = {
  name: required(text('Tool name that the model calls.')),
  id: id('sub_agent', undefined, '`name`'),
  description: required(text('Description for the calling model: which tasks to delegate.')),
  system_prompt: promptText,
  model: text("Model id, if it differs from the agent's model. The provider stays the same."),
  provider: text('`{{provider.id}}`, or a provider name.', '`[provider]`'),
  thinking_level: thinking("Thinking level of the sub-agent's model.", '`off`'),
  ...requestSettingsKeys,
  max_tokens: whole(1, 'Maximum tokens of a response.'),
  max_turns: whole(1, 'Maximum model calls per task.', defaultTaskLimits.maxTurns),
  max_total_tokens: whole(1, 'Maximum tokens per task.', defaultTaskLimits.maxTotalTokens),
  max_duration_secs: seconds('Maximum seconds per task.', defaultTaskLimits.maxDurationMs),
  skills: texts('Names of loaded skills that the sub-agent can use. Requires a tool that reads files.', 'none'),
  tools: texts("Names of the sub-agent's tools. Sub-agents are not allowed.", 'none'),
  background: flag('Runs tasks in the background. The run receives a message when a task ends.', '`false`'),
  on_run_end: word(onRunEnd.words, 'Whether an idle run waits for background tasks or cancels them.', `\`${defaultBackground.onRunEnd}\``),
  max_running: whole(1, 'Maximum number of concurrent background tasks.', defaultBackground.maxRunning),
  priority: word(priorityWord.words, priorityIs, '`person`; `background` for background tasks'),
}

/**
 * `[[sub_agents.instances]]`: an agent that other agents call as a tool. If it sets no model, it inherits the agent's model, and nothing
 * else.
 */
export interface SubAgentSection extends FieldsOf<typeof subAgentKeys> {}

const blockKeys = {
  name: required(text('Name of the block.')),
  order: whole(Number.MIN_SAFE_INTEGER, 'Sort order. Smaller values come first.', '0'),
  max_length: whole(1, 'Maximum characters. Longer text is truncated.', maxPrompt),
}
interface BlockSection extends FieldsOf<typeof blockKeys> {}

export const strategyKeys = {
  id: required(id('system_prompt_strategy')),
  description: text('For display only.'),
  blocks: tables<BlockSection>(blockKeys, 'Blocks of the strategy.'),
}

/** `[[system_prompt_strategy.instances]]`: blocks of a system prompt. */
export interface PromptStrategySection extends FieldsOf<typeof strategyKeys> {}

/** Treats every string as a possible file reference, even outside a block. A superfluous trust request is better than a missing one. */
export const promptKeys = {
  id: as('prompt', required(id('system_prompt'))),
  description: as('prompt', text('For display only.')),
  type: as('prompt', text('`{{system_prompt_strategy.id}}`. `agent` and `minimal` are predefined.', inFileOrder)),
}

interface PromptKeys extends FieldsOf<typeof promptKeys> {}

/** `[[system_prompt.instances]]`: texts for the blocks of a strategy, by block name. */
export interface PromptSection extends PromptKeys {
  [block: string]: string | undefined
}

export const clientToolKeys = {
  name: required(text('Tool name that the model calls.')),
  description: required(text('Description for the model: what the tool does and when to use it.')),
  parameters: required(jsonTable('JSON Schema of the arguments (an object).')),
  output: jsonTable('JSON Schema that validates results.', 'any JSON'),
  needs_approval: flag('Whether a call needs approval before the client runs it.', '`false`'),
  timeout_secs: seconds('Seconds that the client has to submit a result.', 'the approval timeout'),
  trust: word(trustInPage.words, '`untrusted` marks results for the model as client content, not as instructions.', '`untrusted`'),
  max_result_chars: whole(1, 'Maximum characters of a result.', defaultMaxResultChars),
}

/** `[[client_tools.instances]]`: a tool that runs in the client. */
export interface ClientToolSection extends FieldsOf<typeof clientToolKeys> {}

export const choicesKeys = {
  models: record('Models by the name that a prompt selects: `{{provider.id}}`, or a provider name.'),
  thinking: texts(`Thinking levels that a prompt can select: ${thinkingLevel.words.map((each) => `\`${each}\``).join(', ')}.`, 'all'),
  tools: texts('Names of tools that a prompt can enable. Do not list them in `[tools] enabled`.', 'none'),
  client_tools: texts('Names of tools that a browser client can declare and run.', 'none'),
}

/** `[choices]`: options that prompts can select by name, including prompts from remote clients. */
export interface ChoicesSection extends FieldsOf<typeof choicesKeys> {}
