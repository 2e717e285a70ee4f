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
import type { DataSchemas } from '../types/run/data.ts'
import type { LoopHooks, SystemPromptFunction } from '../types/run/turn.ts'
import type { Journal } from '../types/session/journal.ts'
import type { SessionStore } from '../types/session/session-store.ts'
import type { SharedStateRules } from '../types/session/shared-state.ts'
import type { SkillSet } from '../types/tool/skills.ts'
import type { AgentTool, ContextOf } from '../types/tool/tool.ts'
import type { Workspace } from '../types/tool/workspace.ts'
import { type Choices, checkChoices, choicesShape } from './choices.ts'

/** Settings that an agent passes to the loop unchanged. */
type LoopSettings = Omit<
  LoopConfig,
  | 'model'
  | 'hooks'
  | 'journal'
  | 'checkAnswer'
  | 'systemPrompt'
  | 'skills'
  | 'responseFormat'
  | 'steering'
  | 'followUps'
  | 'firstTurnTrigger'
>

/**
 * Options for an agent. Only the model is required. `Output` is the output type of `responseFormat`. Source: docs/concepts/agent-and-run.md
 */
export interface AgentOptions<
  Output = unknown,
  Tools extends readonly AgentTool[] = readonly AgentTool[],
  Context = ContextOf<Tools>,
  Data extends DataSchemas = DataSchemas,
> extends LoopSettings {
  model: Model
  /**
   * Format of every response. Sets the type of `output`. Tools remain available. An unsupported schema ends the run with an error. Default:
   * text.
   */
  responseFormat?: ResponseFormatInput<Output>
  /** System prompt, or a function that returns it before each turn. Default: none. */
  systemPrompt?: string | SystemPromptFunction<Context>
  /** Application callbacks that the loop awaits before and after each step. */
  hooks?: LoopHooks<Context>
  /** Skills to list after the system prompt of every run. The agent's `read_file` must read the workspace that contains the skills. */
  skills?: SkillSet
  tools?: Tools
  /** Models, thinking levels and tools that prompts can select by name. Default: none. */
  choices?: Choices
  /** Default `context` for prompts that pass none. Default: none. */
  context?: Context
  /** Schemas of the data parts that tools, hooks and plugins send, by name. Default: any name and JSON value. */
  data?: Data
  /** Initial history. */
  messages?: readonly MessageInput[]
  /** Enables execution limits and context management. Default: `true`. */
  contextManagement?: boolean
  /** Default: `oneAtATime`. */
  steeringMode?: QueueMode
  /** Default: `oneAtATime`. */
  followUpMode?: QueueMode
  /** Workspace that the agent's tools use. For the application's reference. The agent ignores this option. */
  workspace?: Workspace
  /** Agent id. Default: a new id. */
  agentId?: string
  /** Agent name in `agentStart`, hooks and traces. Use a small set of names, not one per user. Default: none. */
  agentName?: string
  /** Session id. Default: a new id. */
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
   * Resources that `agent.close()` also closes, such as an MCP tool set that only this agent uses. Agents created by `with` or `fork` do
   * not own them.
   */
  owns?: readonly { close(): unknown }[]
  /** Maximum bytes of past events that a run buffers for late readers. Default: 4 MiB. */
  replayBytes?: number
}

/** An agent's settings, without its history and ids. */
export type AgentSettings<Output = unknown> = Omit<AgentOptions<Output>, 'messages' | 'agentId' | 'sessionId' | 'owns' | 'sharedState'>

/** Options for one run, including settings that apply to each of its requests. */
export interface PromptOptions<Output = unknown, Context = unknown> extends RequestSettings {
  /** A model name in `choices.models`. Default: the agent's model. Throws `ConfigError` `notAllowed` for other names. */
  model?: string
  /** Additional tools for this run: names in `choices.tools`. Throws `ConfigError` `notAllowed` for other names. */
  tools?: readonly string[]
  /** Client tools that the client declares and runs. Throws `ConfigError` `notAllowed` unless `choices.clientTools` lists their names. */
  clientTools?: readonly ClientToolDeclaration[]
  /** Thinking level. Must be in `choices.thinking`, if set. Default: the agent's setting. */
  thinking?: ThinkingLevel
  /** Stops the run when it aborts. The caller owns the signal. */
  signal?: AbortSignal
  /** Any JSON, passed through to `agentStart`. */
  metadata?: JsonValue
  /**
   * Value passed to this run's tools, hooks, plugins and prompt functions as `context`, such as a tenant or a connection. Never sent,
   * stored or emitted. A continued run keeps its prompt's context. Default: none.
   */
  context?: Context
  /** Parent budget: the run is charged to it and stops at its limits. Default: only the run's own limits. */
  budget?: Budget
  /** Run kind reported in `agentStart`. Default: `initial` for a prompt, `default` for a continuation. */
  kind?: ContinuationKind
  /** Maximum repair requests for an invalid response. Default: the agent's setting. */
  repair?: number
  /** Format of this run's responses. Default: the agent's setting. */
  responseFormat?: ResponseFormatInput<Output>
}

/** Run options as rest arguments. `context` is required if one of the agent's tools declares it and the agent has no default value. */
export type RunArguments<Output, Context, Default = undefined, More = unknown> = unknown extends (
  undefined extends Default
    ? Context
    : unknown
)
  ? [options?: PromptOptions<Output, Context> & More]
  : [options: PromptOptions<Output, Context> & { context: Context } & More]

/** Options for `newSession`. */
export interface NewSessionOptions {
  /** Starts a new session only if the last run started more than this many milliseconds ago. Default: always. */
  afterIdleMs?: number
}

/** Options for `compact`. */
export interface CompactOptions extends Pick<PromptOptions, 'signal' | 'metadata' | 'budget' | 'context'> {
  /** Topic that the summary should focus on. */
  focusMessage?: string
}

/** Converts an agent's settings to a loop configuration. */
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
  context: _context,
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

/** Validation shapes of all agent options. */
export const agentTable: OptionTable<AgentOptions> = {
  ...settingTable,
  systemPrompt: either(aText, aFunction),
  skills: aSkillSet,
  tools: toolList,
  choices: choicesShape,
  context: anything,
  // `toHistory` validates messages and adds missing ids.
  messages: anything,
  contextManagement: aFlag,
  steeringMode: aQueueMode,
  followUpMode: aQueueMode,
  workspace: aWorkspace,
  agentId: aText,
  agentName: aText,
  sessionId,
  session: aStore,
  sharedState: withMethods('shared state from sharedState', 'begin'),
  owns: listOf(withMethods('something to close', 'close')),
  replayBytes: aPositiveNumber,
}

export const promptTable: OptionTable<PromptOptions> = {
  ...settingFields,
  ...choiceFields,
  thinking: thinkingLevel,
  signal: aSignal,
  metadata: json,
  context: anything,
  budget: aBudget,
  kind: continuationKind,
  repair: wholeFrom(0),
  responseFormat: responseFormatInput,
}

const { messages: _history, agentId: _agent, sessionId: _session, owns: _owned, sharedState: _shared, ...settingsOfAgent } = agentTable
const agentOptions = options<AgentOptions>(agentTable)
const agentSettings = options<AgentSettings>(settingsOfAgent)
const promptOptions = options<PromptOptions>(promptTable)
const { signal, metadata, context, budget } = promptTable
const compactOptions = options<CompactOptions>({ signal, metadata, context, budget, focusMessage: aText })

/** Throws `ConfigError` for invalid options, with the option, its value and the valid values. */
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
  if (session && journal) throw new ConfigError('invalidOption', 'Both session and journal are set. Pass only one.')
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
