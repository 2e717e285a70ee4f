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
import type { AgentPlugin } from '../types/run/hooks.ts'
import type { LoopObserver } from '../types/run/loop-watch.ts'
import type { ApprovalHandler, ApprovalRule, ClientCallHandler, InputFilter, InputHandler } from '../types/run/question.ts'
import type { LoopHooks, StopCondition, UpcomingTurn } from '../types/run/turn.ts'
import type { Journal } from '../types/session/journal.ts'
import type { SessionState } from '../types/session/shared-state.ts'
import type { SchemaValidator } from '../types/standard-schema.ts'
import type { SkillSet } from '../types/tool/skills.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import type { OffloadOptions } from '../types/tool/workspace.ts'

/**
 * Conversation of a loop.
 *
 * **Contract**
 * - The loop appends to `messages` in order and never edits, reorders or removes entries.
 * - A start writes created ids back, so that a continuation with this context reuses them.
 */
export interface AgentContext {
  systemPrompt: string
  messages: AgentMessage[]
  /** Context state: compaction, prunes, reverts. The loop replaces it during the run. */
  state?: ContextState
  tools: readonly AgentTool[]
  agentId?: string
  sessionId?: string
  /** Id of the loop to run; if absent or already used, the next id of this session and configuration. */
  loopId?: string
  /** Id of the last loop on this context; set by the loop when it ends. */
  lastLoopId?: string
  /** Parent loop. Default: none for a start, `lastLoopId` for a continuation. */
  parentLoopId?: string
  /** Kind of a continuation. Default: `{ kind: 'default' }`; a start is always `initial`. */
  continuationKind?: ContinuationKind
  /**
   * Request settings of the unfinished prompt, for records of its loop; cleared when the prompt is finished. It has no effect: `LoopConfig`
   * does.
   */
  asked?: PromptSettings
  /** Pending client tool calls. Maintained by the loop. */
  clientCalls?: AskedClientCall[]
  /** Why the session was created, for its record. Default: for its first loop. */
  formation?: SessionFormation
  /** Number of loops per configuration segment. */
  loopCounts?: Record<string, number>
}

/**
 * Supplies queued messages to a loop.
 *
 * **Contract**
 * - `waiting` is cheap and has no effects; it decides whether to skip tools or continue.
 * - `take` removes and returns the messages of one checkpoint. The loop appends them to the history at once.
 * - With input filters, the loop first calls `peek`, which returns what `take` would. `take(only)` then takes those of them that are still
 *   queued, and `giveBack` gets the rejected ones. Without `peek`, `take` is called before the filters.
 * - `onQueued` notifies of new messages and returns a function that unsubscribes. It wakes a run that waits for background tasks.
 * - `record` is called once, when the start of the loop is recorded: from then on, queued messages must be recorded before their receipts
 *   report it.
 * - `leave` is called once, when the loop ends: it releases messages held for this loop, which the result then has as `returned`.
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

/** Records that messages were queued together, or withdrawn. `undefined` without a journal. A rejection has ended the run. */
export type QueueWriter = (messages: AgentMessage[], isReturned: boolean) => Promise<void> | undefined

/** Return value of `transformContext`. */
type TransformedContext = readonly (Message | AgentMessage)[]

/** Configuration of a loop. Only the model is required. Source: docs/concepts/agent-and-run.md */
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
  /** Format of every response; tools stay usable. An unsupported schema ends the run with an error. Default: text. */
  responseFormat?: ResponseFormatInput
  /** Fetches media for providers that do not. Default: nothing is fetched, and a text line replaces the media. */
  resolveMedia?: ResolveMedia
  /** Maximum repair requests for a response that violates `responseFormat`, each with the issues. Default: 0. */
  repair?: number
  /** Returns the issues of a response for the model, or `undefined`. An agent derives it from its `responseFormat`. */
  checkAnswer?: (message: AgentMessage) => Promise<string | undefined>
  /** Writes long tool results to files of a workspace; the model gets start, end and path. Default: they stay in the history. */
  offload?: OffloadOptions
  /** Default: `parallel`. */
  toolExecution?: ToolExecutionStrategy | 'parallel' | 'sequential'
  /** Milliseconds per tool call, unless the tool sets its own. Default: no timeout. */
  toolTimeoutMs?: number
  /** Default: `defaultLimits`; `false` disables limits. */
  limits?: Partial<ExecutionLimits> | false
  /** Default: `defaultRetry`; `false` disables retries. */
  retry?: Partial<RetryConfig> | false
  /** Milliseconds to wait for an approval before the run ends `paused`. Default: no timeout. */
  approvalTimeoutMs?: number
  /** Application callbacks at fixed points of the loop. */
  hooks?: LoopHooks
  /** Plugins, in this order; see `definePlugin` of `phi-core/loop`. Experimental. */
  plugins?: readonly AgentPlugin[]
  /** Conditions that end the run as completed after a turn that another would follow. The first that matches ends it. */
  stopWhen?: StopCondition | readonly StopCondition[]
  /** Check every input before the model gets it, in this order. */
  inputFilters?: readonly InputFilter[]
  /** Context window settings. `false`: never compact, and a prompt that is too long ends the run. */
  contextConfig?: Partial<ContextConfig> | false
  /** Emits model requests as `turnRequest` events; with `httpBody` also the HTTP request. Default: off. */
  captureTurnRequests?: boolean | { httpBody: boolean }
  /** Messages injected at the next checkpoint. */
  steering?: MessageSupplier
  /** Messages processed when the loop would otherwise stop. */
  followUps?: MessageSupplier
  /**
   * Transforms the messages of a request, never the history: gets copies of the entries and returns messages, changed or not. Runs before
   * every request; must settle within the run.
   */
  transformContext?: (messages: readonly AgentMessage[], signal: AbortSignal) => TransformedContext | Promise<TransformedContext>
  /** Returns the system prompt before each turn. Default: that of the context. */
  systemPrompt?: (turn: UpcomingTurn) => string | Promise<string>
  /** Skills whose index follows the result of `systemPrompt`. */
  skills?: SkillSet
  /** Converts copies of the history entries to messages for the model. Default: drops extensions. */
  convertToLlm?: (messages: readonly AgentMessage[]) => readonly Message[] | Promise<readonly Message[]>
  /** Translates content of other models in the history for this one. Default: none; see `defaultContextTranslation`. */
  contextTranslation?: ContextTranslation
  journal?: Journal
  /** Receives warnings. Default: the console; `false` disables them. */
  logger?: Logger | false
  /** Observe this loop and all nested loops; the first is outermost. */
  observers?: readonly LoopObserver[]
  /** Validates arguments against raw JSON Schemas. Default: the built-in interpreter, loaded on first use. */
  schemaValidator?: SchemaValidator
}

/** Options of one loop besides context and configuration. */
export interface LoopOptions {
  /** Receives every event, synchronously and in order. Errors and rejections are logged and ignored. */
  emit: (event: AgentEvent) => void
  /** Owned by the caller; stops the loop. */
  signal: AbortSignal
  /** Default: a new id. */
  runId?: string
  /** Passed through to `agentStart`. */
  metadata?: JsonValue
  /** Budget of the parent run: this loop is charged there too, and stops at its limits. */
  budget?: Budget
  /** Handles approvals. Without it, a call that needs one ends the run `paused`. */
  approvals?: ApprovalHandler
  /** Handles user input requests. Without it, they resolve with `cancel`. */
  inputs?: InputHandler
  /** Handles client tool calls. Without it, such a call ends the run `paused`. */
  clientCalls?: ClientCallHandler
  /** Shared state of the session: tools change it, and changes are events. Default: none. */
  sharedState?: Pick<SessionState, 'subscribe' | 'ofCall'>
  /** Returns the approval rule for tools without a rule of their own: that of the parent run, in `ctx.guards`. */
  approvalRule?: (toolName: string) => ApprovalRule | undefined
  /** Name of the agent of this loop, for hooks and events. */
  agentName?: string
  /** Filled with the running calls and their timeouts in milliseconds (`undefined`: none). */
  runningTools?: Map<string, number | undefined>
}
