import type { ProviderError } from '../../contract/errors.ts'
import type { AgentMessage, AssistantMessage, MessageEnvelope } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { Budget } from '../../types/run/budget.ts'
import type { AgentPlugin, AnswerHookInfo } from '../../types/run/hooks.ts'
import type { PluginCall, PluginTurn } from '../../types/run/plugin.ts'
import type { RunEnding } from '../../types/run/run.ts'
import type { HookedLoop } from '../hooks.ts'
import type { InputLoop } from '../intake.ts'
import type { RunLog } from '../run-log.ts'
import type { TurnSetup } from '../turn/turn-setup.ts'

/** The loop as its plugins need it. */
export interface PluginHost extends Omit<InputLoop, 'turn' | 'log'>, HookedLoop {
  readonly events: InputLoop['events']
  readonly turn: TurnSetup
  readonly log: RunLog
  readonly budget: Budget
  fail(error: unknown): ReturnType<HookedLoop['fail']>
}

/** Checks a response before it enters the history. `who` starts the sentence about the outcome. */
export interface AnswerGuard {
  who: string
  judge(info: AnswerHookInfo): unknown
}

/** Replaces the text of one message. */
export interface WordFilter {
  /** Returns the replacement of an event; `undefined` if nothing is shown yet. */
  take(event: StreamDelta): StreamDelta | undefined
  /** Emits text held back with `show`, and sets the message to the shown text. */
  close(message: AssistantMessage & MessageEnvelope, show: (event: StreamDelta) => void): void
}

/**
 * All plugins of one loop. See `PluginStages` of {@link AgentPlugin} for the stages.
 *
 * **Contract**: a failing stage has failed the loop when its promise settles; only `request` and `call` reject.
 */
export interface JoinedPlugins {
  beforeTurn(): Promise<RunEnding | undefined>
  request(request: StreamRequest): Promise<StreamRequest>
  /** `undefined` if no plugin replaces text. */
  words(messageId: string): WordFilter | undefined
  readonly responseStages: readonly AnswerGuard[]
  /** Returns the delay in milliseconds and the maximum retries; `undefined` for no retry. */
  requestFailed(error: ProviderError, retries: number): Promise<{ delayMs: number; maxRetries: number } | undefined>
  /** Wraps `work` in the `call` stages; returns `work` itself without any. */
  around(call: PluginCall, work: () => Promise<ToolResult>): () => Promise<ToolResult>
  readonly watchesCalls: boolean
  /** Whether a plugin has an `idle` stage. */
  readonly mayGoOn: boolean
  endTurn(turn: Pick<PluginTurn, 'message' | 'toolResults' | 'usage'>): Promise<void>
  idle(): AgentMessage | undefined
  ending(ending: RunEnding): void
  close(): Promise<void>
}

/** A plugin that carries the code to join plugins, so that programs without plugins do not load it. */
export interface JoinablePlugin extends AgentPlugin {
  join(plugins: readonly AgentPlugin[], host: PluginHost): JoinedPlugins
}

/** Joins the plugins of a loop. If a plugin fails to start, the loop has failed. */
export function joinPlugins(plugins: readonly AgentPlugin[] | undefined, host: PluginHost): JoinedPlugins | undefined {
  return plugins?.find(isJoinable)?.join(plugins, host)
}

function isJoinable(plugin: AgentPlugin): plugin is JoinablePlugin {
  return 'join' in plugin && typeof plugin.join === 'function'
}
