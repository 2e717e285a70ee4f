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

/** The fields of a loop that plugins use. */
export interface PluginHost extends Omit<InputLoop, 'turn' | 'log'>, HookedLoop {
  readonly events: InputLoop['events']
  readonly turn: TurnSetup
  readonly log: RunLog
  readonly budget: Budget
  fail(error: unknown): ReturnType<HookedLoop['fail']>
}

/** Checks a response before it enters the history. `who` is the subject of the error message. */
export interface AnswerGuard {
  who: string
  judge(info: AnswerHookInfo): unknown
}

/** Replaces the text of one message. */
export interface WordFilter {
  /** Returns the event to emit instead, or `undefined` if all of its text is held back. */
  take(event: StreamDelta): StreamDelta | undefined
  /** Emits held-back text with `show`, and replaces the message's text with the shown text. */
  close(message: AssistantMessage & MessageEnvelope, show: (event: StreamDelta) => void): void
}

/**
 * All plugins of one loop. See `PluginStages` of {@link AgentPlugin} for the stages.
 *
 * **Contract**: if a stage fails, the loop has failed when the stage's promise settles. Only `request` and `call` reject.
 */
export interface JoinedPlugins {
  beforeTurn(): Promise<RunEnding | undefined>
  request(request: StreamRequest): Promise<StreamRequest>
  /** Filter for streamed text. `undefined` if no plugin replaces text. */
  words(messageId: string): WordFilter | undefined
  readonly responseStages: readonly AnswerGuard[]
  /** Returns the delay in milliseconds and the maximum retries, or `undefined` for no retry. */
  requestFailed(error: ProviderError, retries: number): Promise<{ delayMs: number; maxRetries: number } | undefined>
  /** Wraps `work` in the `call` stages. Returns `work` itself if no plugin has a `call` stage. */
  around(call: PluginCall, work: () => Promise<ToolResult>): () => Promise<ToolResult>
  readonly watchesCalls: boolean
  /** Whether a plugin has an `idle` stage. */
  readonly mayGoOn: boolean
  endTurn(turn: Pick<PluginTurn, 'message' | 'toolResults' | 'usage'>): Promise<void>
  idle(): AgentMessage | undefined
  ending(ending: RunEnding): void
  close(): Promise<void>
}

/** A plugin with the function that starts plugins, so that programs without plugins do not load that code. */
export interface JoinablePlugin extends AgentPlugin {
  join(plugins: readonly AgentPlugin[], host: PluginHost): JoinedPlugins
}

/** Starts a loop's plugins. If a plugin fails to start, the loop fails. */
export function joinPlugins(plugins: readonly AgentPlugin[] | undefined, host: PluginHost): JoinedPlugins | undefined {
  return plugins?.find(isJoinable)?.join(plugins, host)
}

function isJoinable(plugin: AgentPlugin): plugin is JoinablePlugin {
  return 'join' in plugin && typeof plugin.join === 'function'
}
