import { defaultBackground, defaultTaskLimits } from '../../agent/sub-agent/sub-agent-tool.ts'
import { thinkingLevel } from '../../contract/model/request-settings.ts'
import { onRunEnd } from '../../contract/run/settings.ts'
import type { FieldsOf } from '../../contract/shape/shape.ts'
import { priorityWord } from '../../providers/compose/limiter.ts'
import { defaultMaxResultChars, trustInPage } from '../../tools/client-tool.ts'
import { as, flag, id, jsonTable, mayBeEmpty, record, required, seconds, table, tables, text, texts, whole, word } from './key-table.ts'
import { requestSettingsKeys } from './model-sections.ts'

/** Maximum characters of a prompt, or of a block without its own limit; maximum bytes of a prompt file. */
export const maxPrompt = 262_144
const priorityIs = 'Priority at the `limiter` of its model. `background`: no user waits for its responses.'

const inFileOrder = 'its texts, in the order of the file'
const promptForms = 'The text itself, `file:path` in the workspace, or `{{system_prompt.id}}`.'
export const promptText = as('prompt', text(promptForms))

const thinking = (about: string, fallback?: string) => mayBeEmpty(word(thinkingLevel.words, about, fallback))

/** Profile settings that are agent options. */
export const agentSettingsKeys = {
  thinking_level: thinking('How deep the model thinks.', '`off`'),
  ...requestSettingsKeys,
  max_tokens: whole(1, 'Tokens of an answer.', 'that of the model'),
  config_id: mayBeEmpty(text('Middle part of loop ids.')),
}

const profileKeys = {
  profile_id: text('An id of its own, to refer to as `{{#id#}}`.'),
  name: text('For people.'),
  description: text('For people.'),
  system_prompt: promptText,
  ...agentSettingsKeys,
  skills: texts('Names of skills, out of those that are loaded. They are not tools.', 'all'),
  workspace: as('workspace', text('The directory it works in.')),
  compaction: text('`{{compaction.id}}`: a variation of `[compaction]`.'),
}

/** `[agent.profile]`: settings that several agents may share. */
export interface ProfileSection extends FieldsOf<typeof profileKeys> {}

const profileInstanceKeys = { id: required(id('agent_profile')), ...profileKeys }

/** `[[agent.profile.instances]]`: a variation of the profile. */
export interface ProfileInstanceSection extends FieldsOf<typeof profileInstanceKeys> {}

export const agentInstanceKeys = {
  name: text('Its name, unique.', '`unnamed`'),
  agent_profile: text('`{{agent_profile.id}}`.', '`[agent.profile]`'),
  profile: table<ProfileSection>(profileKeys, 'What it has in place of what its profile says.'),
  system_prompt: promptText,
  provider: text('`{{provider.id}}`, or the name of one.', '`[provider]`'),
  priority: word(priorityWord.words, priorityIs, '`person`'),
  workspace: as('workspace', text('The directory it works in.')),
}

/** `[[agent.instances]]`: one of several agents. */
export interface AgentInstanceSection extends FieldsOf<typeof agentInstanceKeys> {}

export const agentKeys = {
  system_prompt: as('prompt', text(`${promptForms} Wins over profiles.`)),
  workspace: as('workspace', text('The directory of agents that say no other.', '`default_workspace`')),
  plugins: as(
    'plugin',
    texts(
      'Paths of modules, relative to the folder of this file, whose plugins join the runs of every agent. They are code: this needs trust.',
      'none',
    ),
  ),
  profile: table<ProfileSection & { instances?: ProfileInstanceSection[] }>(
    {
      ...profileKeys,
      instances: tables<ProfileInstanceSection>(
        profileInstanceKeys,
        'Variations of the profile; what they leave out is as in `[agent.profile]`.',
      ),
    },
    'Settings that agents share.',
  ),
  instances: tables<AgentInstanceSection>(agentInstanceKeys, 'Several agents, for `agentsFromConfig`.'),
}

/** `[agent]`: the agent. */
export interface AgentSection extends FieldsOf<typeof agentKeys> {}

export const subAgentKeys = {
  name: required(text('The name by which the model calls it.')),
  id: id('sub_agent', undefined, '`name`'),
  description: required(text('What it is good at, for the model that calls it.')),
  system_prompt: promptText,
  model: text('Another model of the same provider.'),
  provider: text('`{{provider.id}}`, or the name of one.', '`[provider]`'),
  thinking_level: thinking('How deep its model thinks.', '`off`'),
  ...requestSettingsKeys,
  max_tokens: whole(1, 'Tokens of an answer.'),
  max_turns: whole(1, 'Model calls of a task.', defaultTaskLimits.maxTurns),
  max_total_tokens: whole(1, 'Tokens of a task.', defaultTaskLimits.maxTotalTokens),
  max_duration_secs: seconds('Seconds of a task.', defaultTaskLimits.maxDurationMs),
  skills: texts('Names of its skills, out of those that are loaded. It needs a tool that reads them.', 'none'),
  tools: texts('Names of its tools; no sub-agents.', 'none'),
  background: flag('Whether its tasks run in the background. The run gets a message when a task ends.', '`false`'),
  on_run_end: word(
    onRunEnd.words,
    'Whether a run with nothing else to do waits for tasks in the background, or stops them.',
    `\`${defaultBackground.onRunEnd}\``,
  ),
  max_running: whole(1, 'Tasks in the background at a time.', defaultBackground.maxRunning),
  priority: word(priorityWord.words, priorityIs, '`person`; `background` for tasks in the background'),
}

/** `[[sub_agents.instances]]`: an agent that others call like a tool. Inherits only the model, if it names none. */
export interface SubAgentSection extends FieldsOf<typeof subAgentKeys> {}

const blockKeys = {
  name: required(text('Its name.')),
  order: whole(Number.MIN_SAFE_INTEGER, 'Smaller comes first.', '0'),
  max_length: whole(1, 'Characters; what is longer is cut.', maxPrompt),
}
interface BlockSection extends FieldsOf<typeof blockKeys> {}

export const strategyKeys = {
  id: required(id('system_prompt_strategy')),
  description: text('For people.'),
  blocks: tables<BlockSection>(blockKeys, 'Its blocks.'),
}

/** `[[system_prompt_strategy.instances]]`: the blocks of a system prompt. */
export interface PromptStrategySection extends FieldsOf<typeof strategyKeys> {}

/** Treats every text as one that may name a file, even if it is no block, so that trust is rather requested too often. */
export const promptKeys = {
  id: as('prompt', required(id('system_prompt'))),
  description: as('prompt', text('For people.')),
  type: as('prompt', text('`{{system_prompt_strategy.id}}`. `agent` and `minimal` are there without being written.', inFileOrder)),
}

interface PromptKeys extends FieldsOf<typeof promptKeys> {}

/** `[[system_prompt.instances]]`: texts for the blocks of a strategy, by block name. */
export interface PromptSection extends PromptKeys {
  [block: string]: string | undefined
}

export const clientToolKeys = {
  name: required(text('The name by which the model calls it.')),
  description: required(text('What it does and when to use it, for the model.')),
  parameters: required(jsonTable('Its arguments, as a JSON Schema of an object.')),
  output: jsonTable('A JSON Schema that a result must fit.', 'any JSON'),
  needs_approval: flag('Whether a person is asked before the page is.', '`false`'),
  timeout_secs: seconds('Seconds that a page has for its result.', 'as long as an approval may take'),
  trust: word(trustInPage.words, 'Whether results are marked for the model as content of a page, not as instructions.', '`untrusted`'),
  max_result_chars: whole(1, 'Characters that a result may have.', defaultMaxResultChars),
}

/** `[[client_tools.instances]]`: a tool that runs in the client. */
export interface ClientToolSection extends FieldsOf<typeof clientToolKeys> {}

export const choicesKeys = {
  models: record('Models by the names that prompts call them: `{{provider.id}}`, or the name of a provider.'),
  thinking: texts(`Levels of thinking: ${thinkingLevel.words.map((each) => `\`${each}\``).join(', ')}.`, 'all'),
  tools: texts('Names of tools that a prompt switches on for itself. They are not in `[tools] enabled`.', 'none'),
  client_tools: texts('Names of tools that a page may bring along and run.', 'none'),
}

/** `[choices]`: options that prompts may choose by name, including prompts of remote clients. */
export interface ChoicesSection extends FieldsOf<typeof choicesKeys> {}
