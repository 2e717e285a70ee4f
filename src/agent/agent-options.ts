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

/** Settings that an agent passes to the loop unchanged. */
type LoopSettings = Omit<
  LoopConfig,
  'model' | 'journal' | 'checkAnswer' | 'systemPrompt' | 'skills' | 'responseFormat' | 'steering' | 'followUps' | 'firstTurnTrigger'
>

/**
 * Options of an agent. Only the model is required. `Output` is the output type of `responseFormat`. Source: docs/concepts/agent-and-run.md
 */
export interface AgentOptions<Output = unknown, Tools extends readonly AgentTool[] = readonly AgentTool[]> extends LoopSettings {
  model: Model
  /**
   * Format of every response, and of `output` in results; tools stay usable. An unsupported schema ends the run with an error. Default:
   * text.
   */
  responseFormat?: ResponseFormatInput<Output>
  /** System prompt, or a function that returns it before each turn. Default: none. */
  systemPrompt?: string | ((turn: UpcomingTurn) => string | Promise<string>)
  /** Skills whose index follows the system prompt of every run. The agent's `read_file` must read the workspace they were loaded from. */
  skills?: SkillSet
  tools?: Tools
  /** Models, thinking levels and tools that prompts may choose by name. Default: none. */
  choices?: Choices
  /** Initial history. */
  messages?: readonly MessageInput[]
  /** Enables execution limits and context management. Default: `true`. */
  contextManagement?: boolean
  /** Default: `oneAtATime`. */
  steeringMode?: QueueMode
  /** Default: `oneAtATime`. */
  followUpMode?: QueueMode
  /** Workspace of the agent's tools. Only the application reads this; the agent does not use it. */
  workspace?: Workspace
  /** Default: a new id. */
  agentId?: string
  /** Name in `agentStart`, hooks and traces. Use few distinct names, not one per user. Default: none. */
  agentName?: string
  /** Default: a new id. */
  sessionId?: string
  /**
   * Records every loop in its session, so that input and responses are durable before the run continues. See also `resumeAgent`. Default:
   * not stored.
   */
  session?: SessionStore
  /** Custom journal that makes loops durable. Cannot be combined with `session`. */
  journal?: Journal
  /** Shared JSON state that tools, the application and clients change. See `sharedState`. Default: none. */
  sharedState?: SharedStateRules
  /**
   * Resources that `agent.close()` closes too, such as an MCP tool set of this agent alone. Agents made by `with` and `fork` do not own
   * them.
   */
  owns?: readonly { close(): unknown }[]
  /** Bytes of events that a run retains for late readers. Default: 4 MiB. */
  replayBytes?: number
}

/** Settings of an agent, without history and identity. */
export type AgentSettings<Output = unknown> = Omit<AgentOptions<Output>, 'messages' | 'agentId' | 'sessionId' | 'owns' | 'sharedState'>

/** Options of one run, including settings that apply to each of its requests. */
export interface PromptOptions<Output = unknown> extends RequestSettings {
  /** One of `choices.models`. Default: the agent's model. Throws `ConfigError` `notAllowed` for other names, as do the next two. */
  model?: string
  /** Names in `choices.tools`: additional tools of this run. */
  tools?: readonly string[]
  /** Client tools that the client declares and runs. Their names must be in `choices.clientTools`. */
  clientTools?: readonly ClientToolDeclaration[]
  /** Thinking level; one of `choices.thinking` if set. Default: the agent's setting. */
  thinking?: ThinkingLevel
  /** Stops the run when it aborts; owned by the caller. */
  signal?: AbortSignal
  /** Any JSON, passed through to `agentStart`. */
  metadata?: JsonValue
  /** Budget that is also charged for the run, and stops it. Default: only the run's own limits. */
  budget?: Budget
  /** Kind of the run in `agentStart`. Default: `initial` for a prompt, `default` for a continuation. */
  kind?: ContinuationKind
  /** Maximum repair requests for an invalid response. Default: the agent's setting. */
  repair?: number
  /** Format of this run's responses. Default: the agent's setting. */
  responseFormat?: ResponseFormatInput<Output>
}

/** Options of `newSession`. */
export interface NewSessionOptions {
  /** Only if the last run started longer ago than this, in milliseconds. Default: always. */
  afterIdleMs?: number
}

/** Options of `compact`. */
export interface CompactOptions extends Pick<PromptOptions, 'signal' | 'metadata' | 'budget'> {
  /** What a summary should focus on. */
  focusMessage?: string
}

/** Converts the settings of an agent to a loop configuration. */
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

/** All agent options and their shapes. */
export const agentTable: OptionTable<AgentOptions> = {
  ...settingTable,
  systemPrompt: either(aText, aFunction),
  skills: aSkillSet,
  tools: toolList,
  choices: choicesShape,
  // Validated and completed by `toHistory`.
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

/** Throws `ConfigError` for invalid options, with the option, its value and the valid ones. */
export function checkAgentOptions(given: AgentOptions): void {
  checkOptions(given, agentOptions)
  checkTogether(given)
}

/** {@link checkAgentOptions} for changed settings. */
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

/** {@link checkAgentOptions} for one run, before it exists. */
export function checkPromptOptions(given: PromptOptions): void {
  checkOptions(given, promptOptions)
}

/** {@link checkPromptOptions} for `compact`. */
export function checkCompactOptions(given: CompactOptions): void {
  checkOptions(given, compactOptions)
}

const newSessionOptions = options<NewSessionOptions>({ afterIdleMs: aNumberFromZero })

/** {@link checkPromptOptions} for `newSession`. */
export function checkNewSession(given: NewSessionOptions): void {
  checkOptions(given, newSessionOptions)
}
