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

/** What judges a response before it is in the history. `who` begins the sentence that says what became of it. */
export interface AnswerGuard {
  who: string
  judge(info: AnswerHookInfo): unknown
}

/** Gives the words of one message in place of those that the model writes. */
export interface WordFilter {
  /** The event in its place; `undefined`: nothing is shown yet. */
  take(event: StreamDelta): StreamDelta | undefined
  /** Gives what was held back to `show`, and makes the message say what was shown. */
  close(message: AssistantMessage & MessageEnvelope, show: (event: StreamDelta) => void): void
}

/**
 * The plugins of one loop, joined. What their stages mean is in {@link AgentPlugin}'s `PluginStages`.
 *
 * **Contract**: a stage that fails has failed the loop when its promise settles; only `request` and `call` reject.
 */
export interface JoinedPlugins {
  beforeTurn(): Promise<RunEnding | undefined>
  request(request: StreamRequest): Promise<StreamRequest>
  /** `undefined` where no plugin looks at words. */
  words(messageId: string): WordFilter | undefined
  readonly responseStages: readonly AnswerGuard[]
  /** How long to wait before the request is sent again, in ms, and how often that may be; `undefined`: it is not. */
  requestFailed(error: ProviderError, retries: number): Promise<{ delayMs: number; maxRetries: number } | undefined>
  /** What stands around `work`; the same function where no plugin has the stage. */
  around(call: PluginCall, work: () => Promise<ToolResult>): () => Promise<ToolResult>
  readonly watchesCalls: boolean
  /** Whether a plugin is asked for more when the model has nothing more to do. */
  readonly mayGoOn: boolean
  endTurn(turn: Pick<PluginTurn, 'message' | 'toolResults' | 'usage'>): Promise<void>
  idle(): AgentMessage | undefined
  ending(ending: RunEnding): void
  close(): Promise<void>
}

/** A plugin that brings what joins it, and others, to a loop: a program without plugins loads nothing of it. */
export interface JoinablePlugin extends AgentPlugin {
  join(plugins: readonly AgentPlugin[], host: PluginHost): JoinedPlugins
}

/** Joins the plugins of a loop. A plugin that cannot begin has failed the loop. */
export function joinPlugins(plugins: readonly AgentPlugin[] | undefined, host: PluginHost): JoinedPlugins | undefined {
  return plugins?.find(isJoinable)?.join(plugins, host)
}

function isJoinable(plugin: AgentPlugin): plugin is JoinablePlugin {
  return 'join' in plugin && typeof plugin.join === 'function'
}
