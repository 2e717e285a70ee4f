import { checkConfig, checkPositive, type LoopConfig } from '../loop/loop-config.ts'
import type { Budget } from '../types/budget.ts'
import { ConfigError } from '../types/errors.ts'
import type { ContinuationKind } from '../types/event.ts'
import type { Journal } from '../types/journal.ts'
import type { JsonValue } from '../types/json.ts'
import type { AgentMessage, Message } from '../types/message.ts'
import type { Model } from '../types/model.ts'
import type { ResponseFormatInput } from '../types/provider.ts'
import type { SessionStore } from '../types/session-store.ts'
import type { QueueMode } from '../types/settings.ts'
import type { AgentTool } from '../types/tool.ts'
import type { Workspace } from '../types/workspace.ts'

/** What of a loop's configuration an agent passes on unchanged. */
type LoopSettings = Omit<LoopConfig, 'model' | 'journal' | 'thinkingLevel' | 'steering' | 'followUps' | 'firstTurnTrigger'>

/** How an agent is set up. Only the model is required. Source: docs/concepts/agent-and-run.md */
export interface AgentOptions extends LoopSettings {
  model: Model
  /** Default: none. */
  systemPrompt?: string
  tools?: readonly AgentTool[]
  /** History to begin with. */
  messages?: readonly (Message | AgentMessage)[]
  /** Default `off`. */
  thinking?: LoopConfig['thinkingLevel']
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
  /** Default: a new id. */
  sessionId?: string
  /** Records every loop in its session: everything said is durable before the run goes on. See also `resumeAgent`. Default: nothing is stored. */
  session?: SessionStore
  /** Makes every loop durable in another way; not together with `session`. */
  journal?: Journal
  /** Bytes of events a run remembers for late readers. Default 4 MiB. */
  replayBytes?: number
}

/** The settings an agent keeps beside its history and identity. */
export type AgentSettings = Omit<AgentOptions, 'messages' | 'agentId' | 'sessionId' | 'steeringMode' | 'followUpMode'>

/** What a caller may say about one run. */
export interface PromptOptions {
  /** Stops the run when it aborts; the caller owns it. */
  signal?: AbortSignal
  /** Any JSON, passed through to `agentStart`. */
  metadata?: JsonValue
  /** What the run uses is charged here too, and it stops when this is used up. Default: its own limits are all there is. */
  budget?: Budget
  /** What the run is, for its `agentStart`. Default: `initial` for a prompt, `default` for a continuation. */
  kind?: ContinuationKind
  /** What form the answers of this run must have, instead of what the agent's settings say. */
  responseFormat?: ResponseFormatInput
}

/** The settings of an agent as the loop takes them. */
export function toLoopConfig({ thinking, contextManagement, limits, contextConfig, ...rest }: AgentSettings): LoopConfig {
  return {
    ...rest,
    thinkingLevel: thinking ?? 'off',
    ...(limits !== undefined && { limits }),
    ...(contextConfig !== undefined && { contextConfig }),
    ...(contextManagement === false && { limits: false, contextConfig: false }),
  }
}

/** Throws `ConfigError` for options that cannot work, naming the option, its value and what is allowed. */
export function checkOptions(options: Partial<AgentOptions>): void {
  if ('model' in options && options.model?.provider === undefined) {
    throw new ConfigError('invalidOption', 'An agent needs a model, for example new Agent({ model: anthropic("claude-…", { apiKey }) }).')
  }
  checkConfig(options)
  if (options.session && options.journal) throw new ConfigError('invalidOption', 'Pass session or journal, not both.')
  checkPositive('replayBytes', options.replayBytes)
  if (options.tools !== undefined) checkTools(options.tools)
}

function checkTools(tools: readonly AgentTool[]): void {
  const seen = new Set<string>()
  for (const { name, timeoutMs } of tools) {
    if (seen.has(name)) throw new ConfigError('invalidTool', `Two tools are called "${name}"; tool names must be unique.`)
    seen.add(name)
    checkPositive(`timeoutMs of tool "${name}"`, timeoutMs)
  }
}
