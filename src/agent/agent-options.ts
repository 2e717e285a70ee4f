import { aBudget, aSkillSet, aStore, aWorkspace } from '../base/argument-checks.ts'
import { checkContextConfig } from '../context/tokens/context-limits.ts'
import { ConfigError } from '../contract/errors.ts'
import type { JsonValue } from '../contract/json.ts'
import type { MessageInput } from '../contract/message/message.ts'
import {
  type ClientToolDeclaration,
  choiceFields,
  type RequestSettings,
  responseFormatInput,
  settingFields,
  type ThinkingLevel,
  thinkingLevel,
} from '../contract/model/request-settings.ts'
import type { ContinuationKind } from '../contract/run/run-facts.ts'
import { continuationKind } from '../contract/run/run-facts.ts'
import type { QueueMode } from '../contract/run/settings.ts'
import { sessionId } from '../contract/session/session.ts'
import { checkOptions } from '../contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  aNumberFromZero,
  anything,
  aPositiveNumber,
  aSignal,
  aText,
  either,
  json,
  listOf,
  type OptionTable,
  oneOf,
  options,
  wholeFrom,
  withMethods,
} from '../contract/shape/shape.ts'
import { checkCostLimit, checkPluginNames, checkToolNames, settingTable, toolList } from '../loop/check-config.ts'
import type { LoopConfig } from '../loop/loop-config.ts'
import type { Model } from '../types/model/model.ts'
import type { ResponseFormatInput } from '../types/model/provider.ts'
import type { Budget } from '../types/run/budget.ts'
import type { UpcomingTurn } from '../types/run/turn.ts'
import type { Journal } from '../types/session/journal.ts'
import type { SessionStore } from '../types/session/session-store.ts'
import type { SharedStateRules } from '../types/session/shared-state.ts'
import type { SkillSet } from '../types/tool/skills.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import type { Workspace } from '../types/tool/workspace.ts'
import { type Choices, checkChoices, choicesShape } from './choices.ts'

/** What of a loop's configuration an agent passes on unchanged. */
type LoopSettings = Omit<
  LoopConfig,
  'model' | 'journal' | 'checkAnswer' | 'systemPrompt' | 'skills' | 'responseFormat' | 'steering' | 'followUps' | 'firstTurnTrigger'
>

/** How an agent is set up. Only the model is required. `Output` is what `responseFormat` promises. Source: docs/concepts/agent-and-run.md */
export interface AgentOptions<Output = unknown, Tools extends readonly AgentTool[] = readonly AgentTool[]> extends LoopSettings {
  model: Model
  /** What form every answer must have, and `output` of results; tools stay usable. A schema that cannot be asked for ends the run with an error. Default: text. */
  responseFormat?: ResponseFormatInput<Output>
  /** The text, or a function that says before each turn what it is. Default: none. */
  systemPrompt?: string | ((turn: UpcomingTurn) => string | Promise<string>)
  /** Their index stands after the system prompt of every run; the agent's `read_file` must read the workspace they were loaded from. */
  skills?: SkillSet
  tools?: Tools
  /** What prompts may choose by name: models, levels of thinking, tools. Default: nothing. */
  choices?: Choices
  /** History to begin with. */
  messages?: readonly MessageInput[]
  /** One switch for execution limits and context management. Default `true`. */
  contextManagement?: boolean
  /** Default `oneAtATime`. */
  steeringMode?: QueueMode
  /** Default `oneAtATime`. */
  followUpMode?: QueueMode
  /** Files the agent's tools work on; kept for the application, the agent itself does not touch it. */
  workspace?: Workspace
  /** Default: a new id. */
  agentId?: string
  /** Names it in `agentStart`, to hooks and in traces. Few different ones: not one per user. Default: none. */
  agentName?: string
  /** Default: a new id. */
  sessionId?: string
  /** Records every loop in its session: everything said is durable before the run goes on. See also `resumeAgent`. Default: nothing is stored. */
  session?: SessionStore
  /** Makes every loop durable in another way; not together with `session`. */
  journal?: Journal
  /** JSON that the session shares with its pages: tools, the application and pages change it. See `sharedState`. Default: none. */
  sharedState?: SharedStateRules
  /** What `agent.close()` closes with it, such as an MCP tool set made for this agent alone. Agents made by `with` and `fork` own nothing of it. */
  owns?: readonly { close(): unknown }[]
  /** Bytes of events a run remembers for late readers. Default 4 MiB. */
  replayBytes?: number
}

/** The settings an agent keeps beside its history and identity. */
export type AgentSettings<Output = unknown> = Omit<AgentOptions<Output>, 'messages' | 'agentId' | 'sessionId' | 'owns' | 'sharedState'>

/** What a caller may say about one run: also settings, which count for each of its requests. */
export interface PromptOptions<Output = unknown> extends RequestSettings {
  /** One of `choices.models`. Throws `ConfigError` `notAllowed` for another name, as the next two. Default: the agent's model. */
  model?: string
  /** Names in `choices.tools`: tools of this run beside those of the agent. */
  tools?: readonly string[]
  /** Tools that a page brings along and runs, of those that `choices.clientTools` names. */
  clientTools?: readonly ClientToolDeclaration[]
  /** How deep the model thinks, one of `choices.thinking` where that is given. Default: as the agent's settings say. */
  thinking?: ThinkingLevel
  /** Stops the run when it aborts; the caller owns it. */
  signal?: AbortSignal
  /** Any JSON, passed through to `agentStart`. */
  metadata?: JsonValue
  /** What the run uses is charged here too, and it stops when this is used up. Default: its own limits are all there is. */
  budget?: Budget
  /** What the run is, for its `agentStart`. Default: `initial` for a prompt, `default` for a continuation. */
  kind?: ContinuationKind
  /** How often an answer that does not fit is asked for again. Default: as the agent's settings say. */
  repair?: number
  /** What form the answers of this run must have, instead of what the agent's settings say. */
  responseFormat?: ResponseFormatInput<Output>
}

/** What a caller may say about a new session. */
export interface NewSessionOptions {
  /** Only when the last run began longer ago than this, in ms. Default: at once. */
  afterIdleMs?: number
}

/** What a caller may say about a compaction. */
export interface CompactOptions extends Pick<PromptOptions, 'signal' | 'metadata' | 'budget'> {
  /** What a summary should keep above all. */
  focusMessage?: string
}

/** The settings of an agent as the loop takes them. */
export function toLoopConfig({
  contextManagement,
  limits,
  contextConfig,
  choices: _choices,
  agentName: _name,
  tools: _tools,
  session: _session,
  workspace: _workspace,
  steeringMode: _steering,
  followUpMode: _followUps,
  replayBytes: _bytes,
  systemPrompt,
  skills,
  ...rest
}: AgentSettings): LoopConfig {
  return {
    ...rest,
    ...(typeof systemPrompt === 'function' && { systemPrompt, ...(skills !== undefined && { skills }) }),
    ...(limits !== undefined && { limits }),
    ...(contextConfig !== undefined && { contextConfig }),
    ...(contextManagement === false && { limits: false, contextConfig: false }),
  }
}

const aQueueMode = oneOf('oneAtATime', 'all')

/** What every agent may be told, and what each must be. */
export const agentTable: OptionTable<AgentOptions> = {
  ...settingTable,
  systemPrompt: either(aText, aFunction),
  skills: aSkillSet,
  tools: toolList,
  choices: choicesShape,
  // Checked, and completed, by `toHistory`.
  messages: anything,
  contextManagement: aFlag,
  steeringMode: aQueueMode,
  followUpMode: aQueueMode,
  workspace: aWorkspace,
  agentId: aText,
  agentName: aText,
  sessionId,
  session: aStore,
  sharedState: withMethods('shared state, as sharedState makes it', 'begin'),
  owns: listOf(withMethods('something to close', 'close')),
  replayBytes: aPositiveNumber,
}

export const promptTable: OptionTable<PromptOptions> = {
  ...settingFields,
  ...choiceFields,
  thinking: thinkingLevel,
  signal: aSignal,
  metadata: json,
  budget: aBudget,
  kind: continuationKind,
  repair: wholeFrom(0),
  responseFormat: responseFormatInput,
}

const { messages: _history, agentId: _agent, sessionId: _session, owns: _owned, sharedState: _shared, ...settingsOfAgent } = agentTable
const agentOptions = options<AgentOptions>(agentTable)
const agentSettings = options<AgentSettings>(settingsOfAgent)
const promptOptions = options<PromptOptions>(promptTable)
const { signal, metadata, budget } = promptTable
const compactOptions = options<CompactOptions>({ signal, metadata, budget, focusMessage: aText })

/** Throws `ConfigError` for options that cannot work, naming the option, its value and what is allowed. */
export function checkAgentOptions(given: AgentOptions): void {
  checkOptions(given, agentOptions)
  checkTogether(given)
}

/** As {@link checkAgentOptions}, for what may be changed of an agent. */
export function checkSettings(given: AgentSettings): void {
  checkOptions(given, agentSettings)
  checkTogether(given)
}

function checkTogether({
  session,
  journal,
  tools = [],
  plugins,
  choices,
  contextManagement,
  contextConfig,
  limits,
  model,
}: AgentSettings): void {
  if (contextManagement !== false) {
    checkContextConfig(contextConfig, model.config)
    checkCostLimit(limits, model)
  }
  if (session && journal) throw new ConfigError('invalidOption', 'Pass session or journal, not both.')
  checkToolNames(tools)
  checkPluginNames(plugins)
  checkChoices({ tools, ...(choices !== undefined && { choices }) })
}

/** As {@link checkAgentOptions}, for one run, before there is one. */
export function checkPromptOptions(given: PromptOptions): void {
  checkOptions(given, promptOptions)
}

/** As {@link checkPromptOptions}, for `compact`. */
export function checkCompactOptions(given: CompactOptions): void {
  checkOptions(given, compactOptions)
}

const newSessionOptions = options<NewSessionOptions>({ afterIdleMs: aNumberFromZero })

/** As {@link checkPromptOptions}, for `newSession`. */
export function checkNewSession(given: NewSessionOptions): void {
  checkOptions(given, newSessionOptions)
}
