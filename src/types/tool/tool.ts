import type { ContextChange, RevertPolicy } from '../../contract/context/context-change.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { InputQuestion } from '../../contract/run/run-facts.ts'
import type { OnRunEnd } from '../../contract/run/settings.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { Budget } from '../run/budget.ts'
import type { SendData } from '../run/data.ts'
import type { TraceContext } from '../run/loop-watch.ts'
import type { ApprovalRule, InputAnswer, RunGuards } from '../run/question.ts'
import type { SharedState } from '../session/shared-state.ts'
import type { StandardSchema } from '../standard-schema.ts'

/**
 * Context of a running tool call.
 *
 * **Contract**
 * - `signal` aborts when the run is stopped or the call times out. The loop owns it.
 * - The functions are synchronous and not rate-limited. After the call has ended, they do nothing.
 * - `update` and `progress` never throw. `data`, `childEvent`, `changeContext` and `budget.charge` throw `ConfigError` `invalidOption` for
 *   invalid input.
 *
 * Source: docs/concepts/tools.md
 */
export interface ToolContext<Context = unknown> {
  /** `context` passed with the prompt that started the run, if any. Never sent, stored or emitted. */
  readonly context: Context
  readonly toolCallId: string
  readonly toolName: string
  readonly sessionId: string
  readonly loopId: string
  readonly signal: AbortSignal
  /** The run's budget. Tools that call models must charge it. */
  readonly budget: Budget
  /** The run's guards, to pass to nested loops. Absent outside a run. */
  readonly guards?: RunGuards
  /** The call's trace context, to send with outgoing requests. Absent if the run is not traced. */
  readonly trace?: TraceContext | undefined
  /** The session's shared state, if the agent defines one. Changes are recorded with this call's id. See `sharedState`. */
  readonly sharedState?: SharedState
  /** Replaces the partial result shown to users. Never sent to the model. */
  update(partial: ToolResult): void
  /** Emits one line of status text. */
  progress(text: string): void
  /** Sends a named JSON value to user interfaces. See {@link SendData}. */
  data: SendData
  /**
   * Requests user input with an `inputRequested` event, and pauses the call's timeout until the response. Never rejects. Resolves with
   * `cancel` on a timeout, without a client, after the call has ended, or if `signal` aborts. Throws `ConfigError` `invalidOption` for an
   * invalid question. Absent outside a run.
   */
  requestInput?(question: InputQuestion, signal?: AbortSignal): Promise<InputAnswer>
  /**
   * Pauses the call's timeout, for example while waiting for a user outside the run. Returns a function that resumes the timeout. Absent
   * outside a run.
   */
  pauseTimeout?(): () => void
  /** Restarts the call's timeout after progress. Does nothing while the timeout is paused. Absent outside a run. */
  restartTimeout?(): void
  /** Emits an event of a nested loop as a `childEvent` of the run. */
  childEvent(event: AgentEvent): void
  /** The run's background tasks, which may outlive a call. Absent outside a run. */
  background?(): Promise<BackgroundTasks>
  /** Requests a change of the context sent to the model. Changes apply in order, after this turn's results. */
  changeContext(change: ContextChange): void
}

/** A task that continues in the background after its call. */
export interface BackgroundTask {
  /** Description for users and for the model. */
  readonly task: string
  /** Whether an otherwise finished run waits for this task or stops the task. */
  readonly onRunEnd: OnRunEnd
  /** Maximum concurrent tasks per tool. */
  readonly maxRunning: number
  /** Sends the task a steering message. Returns `false` if the task has ended or accepts no messages. */
  steer(text: string): boolean
  /**
   * Runs the task with a separate context. The context's signal aborts if the task is stopped or exceeds the tool's timeout, or if the run
   * is aborted. An error is reported as the task's result.
   */
  work(ctx: ToolContext): Promise<ToolResult>
}

/** State of a running or finished background task. */
export interface BackgroundView {
  readonly backgroundId: string
  readonly toolName: string
  readonly task: string
  readonly isRunning: boolean
  /** Run time in milliseconds. */
  readonly elapsedMs: number
  /** Latest partial result, or the report. */
  readonly latest: ToolResult | undefined
}

/** Lets tools control a run's background tasks. Source: docs/concepts/several-agents.md */
export interface BackgroundTasks {
  /**
   * Starts a background task for the current call, at most one per call. Returns the call's result for the model. Throws `ToolError`
   * `failed` if `maxRunning` is reached or the call has ended.
   */
  start(task: BackgroundTask): ToolResult
  /** Returns all tasks of the run, in start order. */
  list(): BackgroundView[]
  /** Sends a steering message to a running task. Throws `ToolError` `failed` for an unknown or finished task. */
  steer(backgroundId: string, text: string): void
  /** Stops a running task and reports the stop to the model. Throws like `steer`. */
  stop(backgroundId: string): void
}

/**
 * A tool's return value: a `ToolResult`, whose `content` may be a string, or any other value. The model gets the value's JSON as text, and
 * the application gets the value as `details`. A tool that returns nothing produces the result `(no output)`.
 */
export type ToolOutput = unknown

/** Schema of a tool's arguments: a Standard Schema (zod 4, valibot, …) or a JSON Schema with an object at its root. */
export type ToolParameters = StandardSchema | JsonSchema

/** Settings of a client tool, whose calls run in a browser or other client. Created by `clientTool`. Source: docs/concepts/tools.md */
export interface ClientRun {
  /** Maximum length of the JSON result in characters. */
  readonly maxResultChars: number
  /** The result's schema. Default: any JSON. */
  readonly output?: ToolParameters
}

/**
 * A tool that a model may call.
 *
 * **Contract**
 * - `execute` receives arguments that the `parameters` schema has validated and parsed. `defineTool` infers the type of these arguments. A
 *   thrown error becomes an error result for the model.
 * - If a tool ignores `ctx.signal`, the loop stops waiting for it and drops the late result.
 * - `idempotent: true` declares that running a call twice is harmless. Resumed sessions rerun only calls to idempotent tools.
 *
 * Source: docs/concepts/tools.md
 */
export interface AgentTool<Context = unknown> {
  /** Unique name that the model calls. Matches `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string
  /** Display name for users. */
  readonly label: string
  /** Description for the model. */
  readonly description: string
  readonly parameters: ToolParameters
  /** JSON Schema for a Standard Schema that cannot produce one. */
  readonly jsonSchema?: JsonSchema
  /** Requires an approval, always or depending on the arguments. Any value except `false` requires an approval. */
  readonly needsApproval?: ApprovalRule
  readonly idempotent?: boolean
  /** Timeout in milliseconds. Default: the agent's `toolTimeoutMs`. */
  readonly timeoutMs?: number
  /**
   * Declares that the tool ends soon after its signal aborts. Intended for tools that run loops or processes. The loop waits up to three
   * seconds for a
   * cancelled call's result, and keeps its `details` and `childLoopId`. The model gets the message of a `ToolError` with code `cancelled`
   * or `timeout`.
   */
  readonly endsOnAbort?: boolean
  /** Set on the revert tool: the agent then numbers messages and shows the numbers to the model. */
  readonly revertPolicy?: RevertPolicy
  /** `whenFound`: offers the tool only after another tool's result lists its name in `offers`. See `toolSearch`. Default: always. */
  readonly isOffered?: 'always' | 'whenFound'
  /**
   * Set on a search tool: names of tools that a provider's built-in search can find instead, and that can be called without a search here.
   * See `toolSearch`.
   */
  readonly searches?: readonly string[]
  /** Whether calls start background tasks. If so, a new run first reports interrupted tasks to the model. */
  readonly isBackground?: boolean
  /** Marks a client tool: a call waits for the client's result, for at most `timeoutMs` if set. `execute` is never called. */
  readonly client?: ClientRun
  /** Tools to offer together with this tool. Default: none. */
  readonly companions?: readonly AgentTool[]
  execute(args: JsonObject, ctx: ToolContext<Context>): ToolOutput
}

/** The `context` type that all of these tools accept: the intersection of the types that `execute` and `needsApproval` declare. */
export type ContextOf<Tools extends readonly AgentTool[]> = (
  Tools[number] extends infer Tool
    ? Tool extends AgentTool<infer Context>
      ? (context: Context) => void
      : never
    : never
) extends (context: infer All) => void
  ? All
  : unknown
