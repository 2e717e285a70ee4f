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
 * The conversation a loop works on.
 *
 * **Contract**
 * - The loop appends to `messages` in order and never edits, reorders or removes what is there.
 * - A start writes back the ids it had to make up, so that a continuation on the same context inherits them.
 */
export interface AgentContext {
  systemPrompt: string
  messages: AgentMessage[]
  /** What of the messages is sent: compacted, pruned, reverted. The loop replaces it as the run goes on. */
  state?: ContextState
  tools: readonly AgentTool[]
  agentId?: string
  sessionId?: string
  /** Id of the loop to run; absent or already used: the next id of this session and configuration. */
  loopId?: string
  /** Id of the loop that ran last on this context; the loop sets it when it ends. */
  lastLoopId?: string
  /** Loop this one descends from. Default: none for a start, `lastLoopId` for a continuation. */
  parentLoopId?: string
  /** What a continuation is. Default `{ kind: 'default' }`; a start is always `initial`. */
  continuationKind?: ContinuationKind
  /**
   * What the prompt that is not answered yet said of its requests, for records of its loop; the loop forgets it when the prompt is answered. It sets nothing:
   * `LoopConfig` does.
   */
  asked?: PromptSettings
  /** Calls that pages were asked to run and that have no result. The loop keeps it. */
  clientCalls?: AskedClientCall[]
  /** Why its session was opened, for its record. Default: for its first loop. */
  formation?: SessionFormation
  /** Loops run so far, per configuration segment. */
  loopCounts?: Record<string, number>
}

/**
 * Where a loop gets queued messages.
 *
 * **Contract**
 * - `waiting` is cheap and free of effects; it decides whether to skip tools or go on.
 * - `take` hands over what one checkpoint delivers. Taken means delivered: the loop puts it into the history at once.
 * - With input filters the loop looks first: `peek` shows what `take` would hand over, `take(only)` then takes those of them that still
 *   wait, and `giveBack` is told what a filter refused. A supplier without `peek` is asked to `take` before the filters run.
 * - `onQueued` calls back when something is queued, and returns how to stop that: a run that waits for what goes on beside it goes on at once then.
 * - `record` is called once, when the beginning of the loop is recorded: what waits, and what is queued from then on, is to be written before anybody is told that
 *   it waits.
 * - `leave` is called once, when the loop ends: it gives up what it held for this loop alone, which is then `returned` in the result.
 */
export interface MessageSupplier {
  waiting(): boolean
  peek?(): readonly AgentMessage[]
  take(only?: readonly AgentMessage[]): AgentMessage[]
  giveBack?(messages: readonly AgentMessage[]): void
  onQueued?(told: () => void): () => void
  record?(write: QueueWriter): void
  leave?(): readonly AgentMessage[]
}

/**
 * Writes down that what was said together waits for a loop, or was taken back. `undefined` where there is nowhere to write it. A rejection has ended the
 * run.
 */
export type QueueWriter = (messages: AgentMessage[], isReturned: boolean) => Promise<void> | undefined

/** What `transformContext` returns. */
type TransformedContext = readonly (Message | AgentMessage)[]

/** How a loop behaves. Everything but the model has a default. Source: docs/concepts/agent-and-run.md */
export interface LoopConfig extends RequestSettings {
  model: Model
  /** Middle segment of the loop id. Default `{provider}.{model}[.{thinking}]`. */
  configId?: string
  /** Default `user`. */
  firstTurnTrigger?: TurnTrigger
  /** Default `off`. */
  thinking?: ThinkingLevel
  /** Default `auto`. */
  cache?: CacheStrategy | 'auto' | 'disabled'
  /** What form every answer must have; tools stay usable. A schema that cannot be asked for ends the run with an error. Default: text. */
  responseFormat?: ResponseFormatInput
  /** Fetches media for services that fetch nothing themselves. Default: nothing is fetched, a line says what was left out. */
  resolveMedia?: ResolveMedia
  /** How often an answer that does not fit `responseFormat` is asked for again, with what is wrong with it. Default 0. */
  repair?: number
  /** What is wrong with an answer, for the model; `undefined` where it fits. An agent makes it of its `responseFormat`. */
  checkAnswer?: (message: AgentMessage) => Promise<string | undefined>
  /** Writes long results of tools to files of a workspace; the model is shown both ends and the path. Default: they stay in the history. */
  offload?: OffloadOptions
  /** Default `parallel`. */
  toolExecution?: ToolExecutionStrategy | 'parallel' | 'sequential'
  /** Milliseconds per tool call, unless the tool sets its own. Default: unbounded. */
  toolTimeoutMs?: number
  /** Default: `defaultLimits`; `false` switches them off. */
  limits?: Partial<ExecutionLimits> | false
  /** Default: `defaultRetry`; `false`: a call that failed is not repeated. */
  retry?: Partial<RetryConfig> | false
  /** Milliseconds to wait for an approval before the run ends `paused`. Default: forever. */
  approvalTimeoutMs?: number
  /** Code of the application at fixed points of the loop. */
  hooks?: LoopHooks
  /** Features that join the run, in this order; see `definePlugin` of `phi-core/loop`. Experimental. */
  plugins?: readonly AgentPlugin[]
  /** End the run as completed, once a turn has ended after which it would go on. The first that says so does. */
  stopWhen?: StopCondition | readonly StopCondition[]
  /** Look at every input before the model does, in this order. */
  inputFilters?: readonly InputFilter[]
  /** Room of the conversation, and how it is kept within it. `false`: never compacted, a prompt that does not fit ends the run. */
  contextConfig?: Partial<ContextConfig> | false
  /** Reports what the model is sent as `turnRequest` events; with `httpBody` also as the HTTP request itself. Default: off. */
  captureTurnRequests?: boolean | { httpBody: boolean }
  /** Messages injected at the next checkpoint. */
  steering?: MessageSupplier
  /** Messages answered when the loop would otherwise stop. */
  followUps?: MessageSupplier
  /**
   * Changes what is sent, never the history: gets copies of its entries, returns them as they are or changed, and messages of its own. Runs
   * before every request; must return within the run.
   */
  transformContext?: (messages: readonly AgentMessage[], signal: AbortSignal) => TransformedContext | Promise<TransformedContext>
  /** Says before each turn what the system prompt is. Default: that of the context. */
  systemPrompt?: (turn: UpcomingTurn) => string | Promise<string>
  /** Their index stands after what `systemPrompt` says. */
  skills?: SkillSet
  /** Turns copies of the history entries into messages for the model. Default: drops extensions. */
  convertToLlm?: (messages: readonly AgentMessage[]) => readonly Message[] | Promise<readonly Message[]>
  /** Turns what other models left in the history into what this one can read. Default: none; see `defaultContextTranslation`. */
  contextTranslation?: ContextTranslation
  journal?: Journal
  /** Hears of what was dropped, cut or repeated. Default: the console; `false` silences. */
  logger?: Logger | false
  /** Watch this loop from within, and all that its calls start; the first is outermost. */
  observers?: readonly LoopObserver[]
  /** Checks arguments against raw JSON Schemas. Default: the interpreter, loaded when first needed. */
  schemaValidator?: SchemaValidator
}

/** What a caller gives one loop beside context and configuration. */
export interface LoopOptions {
  /** Receives every event, synchronously and in order. What it throws, or rejects with, is logged and ignored. */
  emit: (event: AgentEvent) => void
  /** Owned by the caller; stops the loop. */
  signal: AbortSignal
  /** Default: a new id. */
  runId?: string
  /** Passed through to `agentStart`. */
  metadata?: JsonValue
  /** Of the run that started this one: what this loop uses is charged there too, and it stops when that one would have to. */
  budget?: Budget
  /** Who answers approvals. Without it, a call that needs one ends the run `paused`. */
  approvals?: ApprovalHandler
  /** Who answers what running calls ask. Without it, they are told `cancel`. */
  inputs?: InputHandler
  /** Where pages run the calls of tools of theirs. Without it, such a call ends the run `paused`. */
  clientCalls?: ClientCallHandler
  /** What the session shares with its pages: tools change it, and changes are events. Without it, there is nothing. */
  sharedState?: Pick<SessionState, 'subscribe' | 'ofCall'>
  /** The rule for tools of that name that have none of their own: that of the run that started this one, in `ctx.guards`. */
  approvalRule?: (toolName: string) => ApprovalRule | undefined
  /** Name of the agent that this loop is a run of, for its hooks and events. */
  agentName?: string
  /** Filled with the calls that run now and their timeouts in ms (`undefined`: unbounded). */
  runningTools?: Map<string, number | undefined>
}
