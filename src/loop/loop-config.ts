import type { ContextTranslation } from '../context/translation.ts'
import type { ContextState } from '../contract/context/context-change.ts'
import type { JsonValue } from '../contract/json.ts'
import type { AgentMessage, Message } from '../contract/message/message.ts'
import type { CacheStrategy } from '../contract/model/request.ts'
import type { PromptSettings, RequestSettings, ThinkingLevel } from '../contract/model/request-settings.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { AskedClientCall, ContinuationKind, TurnTrigger } from '../contract/run/run-facts.ts'
import type { ExecutionLimits, RetryConfig, ToolExecutionStrategy } from '../contract/run/settings.ts'
import type { SessionFormation } from '../contract/session/session.ts'
import type { ContextConfig } from '../types/context/compaction.ts'
import type { Logger } from '../types/logger.ts'
import type { Model } from '../types/model/model.ts'
import type { ResolveMedia, ResponseFormatInput } from '../types/model/provider.ts'
import type { Budget } from '../types/run/budget.ts'
import type { DataSchemas } from '../types/run/data.ts'
import type { AgentPlugin } from '../types/run/hooks.ts'
import type { LoopObserver } from '../types/run/loop-watch.ts'
import type { ApprovalHandler, ApprovalRule, ClientCallHandler, InputFilter, InputHandler } from '../types/run/question.ts'
import type { LoopHooks, StopCondition, SystemPromptFunction } from '../types/run/turn.ts'
import type { Journal } from '../types/session/journal.ts'
import type { SessionState } from '../types/session/shared-state.ts'
import type { SchemaValidator } from '../types/standard-schema.ts'
import type { SkillSet } from '../types/tool/skills.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import type { OffloadOptions } from '../types/tool/workspace.ts'

/**
 * The conversation that a loop continues.
 *
 * **Contract**
 * - The loop appends to `messages` in order and never edits, reorders or removes entries.
 * - A loop that creates ids sets them on the context, so that a continuation reuses them.
 */
export interface AgentContext {
  systemPrompt: string
  messages: AgentMessage[]
  /** Context state: compaction, prunes, reverts. The loop replaces it during the run. */
  state?: ContextState
  tools: readonly AgentTool[]
  agentId?: string
  sessionId?: string
  /** Id of the loop to run. If absent or already used, the loop gets the next id for this session and configuration. */
  loopId?: string
  /** Id of the last loop that used this context. Each loop sets it when it ends. */
  lastLoopId?: string
  /** Parent loop. Default: none for a start, `lastLoopId` for a continuation. */
  parentLoopId?: string
  /** Continuation kind. Default: `{ kind: 'default' }`. A new loop is always `initial`. */
  continuationKind?: ContinuationKind
  /**
   * The unfinished prompt's request settings, to record with its loops. Cleared when the prompt is finished. Requests use the settings in
   * `LoopConfig`, not these.
   */
  asked?: PromptSettings
  /** Pending client tool calls. Maintained by the loop. */
  clientCalls?: AskedClientCall[]
  /** Reason to record for the session's creation. Default: its first loop. */
  formation?: SessionFormation
  /** Number of loops so far, by configuration segment of the loop id. */
  loopCounts?: Record<string, number>
}

/**
 * Supplies queued messages to a loop.
 *
 * **Contract**
 * - `waiting` is fast and has no side effects. The loop uses the result to decide whether to skip tool calls or continue.
 * - `take` removes and returns the messages for one checkpoint. The loop appends them to the history immediately.
 * - With input filters, the loop first calls `peek`, which returns the messages that `take` would. `take(only)` then takes those that are
 *   still queued, and `giveBack` gets the rejected ones. Without `peek`, the loop calls `take` before the filters.
 * - `onQueued` calls a listener for new messages and returns a function that unsubscribes. It wakes a run that is waiting for background
 *   tasks.
 * - The loop calls `record` once, after it has recorded its start. From then on, the supplier must record queued messages before their
 *   receipts resolve.
 * - The loop calls `leave` once, when it ends. `leave` releases the messages held for this loop. The result lists them as `returned`.
 */
export interface MessageSupplier {
  waiting(): boolean
  peek?(): readonly AgentMessage[]
  take(only?: readonly AgentMessage[]): AgentMessage[]
  giveBack?(messages: readonly AgentMessage[]): void
  onQueued?(listener: () => void): () => void
  record?(write: QueueWriter): void
  leave?(): readonly AgentMessage[]
}

/**
 * Records that messages were queued together, or withdrawn. Returns `undefined` without a journal. A rejection means that the run has
 * failed.
 */
export type QueueWriter = (messages: AgentMessage[], isReturned: boolean) => Promise<void> | undefined

/** Return value of `transformContext`. */
type TransformedContext = readonly (Message | AgentMessage)[]

/** A loop's configuration. Only the model is required. Source: docs/concepts/agent-and-run.md */
export interface LoopConfig extends RequestSettings {
  model: Model
  /** Middle segment of the loop id. Default: `{provider}.{model}[.{thinking}]`. */
  configId?: string
  /** Default: `user`. */
  firstTurnTrigger?: TurnTrigger
  /** Default: `off`. */
  thinking?: ThinkingLevel
  /** Default: `auto`. */
  cache?: CacheStrategy | 'auto' | 'disabled'
  /** Format of every response. Tools remain available. An unsupported schema ends the run with an error. Default: text. */
  responseFormat?: ResponseFormatInput
  /** Fetches media for providers that do not fetch URLs. Default: a text line replaces such media. */
  resolveMedia?: ResolveMedia
  /** Maximum repair requests for a response that violates `responseFormat`. Each request lists the issues. Default: 0. */
  repair?: number
  /** Returns a response's issues as text for the model, or `undefined`. An agent derives this function from `responseFormat`. */
  checkAnswer?: (message: AgentMessage) => Promise<string | undefined>
  /**
   * Writes long tool results to workspace files. The model gets the start, the end and the file path. Default: the history contains whole
   * results.
   */
  offload?: OffloadOptions
  /** Default: `parallel`. */
  toolExecution?: ToolExecutionStrategy | 'parallel' | 'sequential'
  /** Timeout per tool call in milliseconds, unless the tool sets `timeoutMs`. Default: no timeout. */
  toolTimeoutMs?: number
  /** Run limits. Default: `defaultLimits`. `false` disables limits. */
  limits?: Partial<ExecutionLimits> | false
  /** Retry settings. Default: `defaultRetry`. `false` disables retries. */
  retry?: Partial<RetryConfig> | false
  /** Milliseconds to wait for an approval before the run ends `paused`. Default: no timeout. */
  approvalTimeoutMs?: number
  /** Application callbacks at fixed points of the loop. */
  hooks?: LoopHooks
  /** Schemas of the data parts that tools, hooks and plugins send, by name. Default: any name and JSON value. */
  data?: DataSchemas
  /** Plugins, in this order. See `definePlugin` from `phi-core/loop`. Experimental. */
  plugins?: readonly AgentPlugin[]
  /** Conditions to check after each turn that is not the last. The first match ends the run as completed. */
  stopWhen?: StopCondition | readonly StopCondition[]
  /** Filters that check every input before it is sent to the model, in this order. */
  inputFilters?: readonly InputFilter[]
  /** Context window settings. With `false`, the loop never compacts, and a prompt that is too long ends the run. */
  contextConfig?: Partial<ContextConfig> | false
  /** Emits model requests as `turnRequest` events, including the HTTP request with `httpBody`. Default: off. */
  captureTurnRequests?: boolean | { httpBody: boolean }
  /** Supplies steering messages. The loop inserts them at the next checkpoint. */
  steering?: MessageSupplier
  /** Supplies follow-up messages. The loop processes them when it would otherwise end. */
  followUps?: MessageSupplier
  /**
   * Transforms each request's messages, but never the history. Receives copies of the history entries and returns the messages to send. The
   * loop awaits the result before each request.
   */
  transformContext?: (messages: readonly AgentMessage[], signal: AbortSignal) => TransformedContext | Promise<TransformedContext>
  /** Returns the system prompt before each turn. Default: the context's system prompt. */
  systemPrompt?: SystemPromptFunction
  /** Skills to list after the result of `systemPrompt`. */
  skills?: SkillSet
  /** Converts copies of the history entries to messages for the model. Default: drops extensions. */
  convertToLlm?: (messages: readonly AgentMessage[]) => readonly Message[] | Promise<readonly Message[]>
  /** Translates content that other models produced for the current model. Default: none. See `defaultContextTranslation`. */
  contextTranslation?: ContextTranslation
  journal?: Journal
  /** Receives warnings. Default: the console. `false` disables them. */
  logger?: Logger | false
  /** Observers of this loop and all nested loops. The first observer is outermost. */
  observers?: readonly LoopObserver[]
  /** Validates arguments against raw JSON Schemas. Default: the built-in interpreter, loaded on first use. */
  schemaValidator?: SchemaValidator
}

/** Options for one loop, besides its context and configuration. */
export interface LoopOptions {
  /** Receives every event, synchronously and in order. The loop logs and ignores errors and rejections. */
  emit: (event: AgentEvent) => void
  /** Stops the loop when it aborts. The caller owns the signal. */
  signal: AbortSignal
  /** Run id. Default: a new id. */
  runId?: string
  /** Any JSON, passed through to `agentStart`. */
  metadata?: JsonValue
  /** The run context: the `context` that tools, hooks, plugins and prompt functions receive. Never sent, stored or emitted. */
  context?: unknown
  /** The parent run's budget. The loop also charges its usage to this budget, and stops at its limits. */
  budget?: Budget
  /** Handles approval requests. Without a handler, a call that needs an approval ends the run `paused`. */
  approvals?: ApprovalHandler
  /** Handles user input requests. Without a handler, requests resolve with `cancel`. */
  inputs?: InputHandler
  /** Handles client tool calls. Without a handler, a client tool call ends the run `paused`. */
  clientCalls?: ClientCallHandler
  /** The session's shared state. Tools can change the state, and each change emits an event. Default: none. */
  sharedState?: Pick<SessionState, 'subscribe' | 'ofCall'>
  /** Returns the approval rule for tools that define none. Nested loops use the parent run's rules from `ctx.guards`. */
  approvalRule?: (toolName: string) => ApprovalRule | undefined
  /** Agent name, for hooks and events. */
  agentName?: string
  /** Map that the loop keeps updated with the running calls and their timeouts in milliseconds (`undefined`: no timeout). */
  runningTools?: Map<string, number | undefined>
}
