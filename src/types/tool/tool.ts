import type { ContextChange, RevertPolicy } from '../../contract/context/context-change.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { InputQuestion } from '../../contract/run/run-facts.ts'
import type { OnRunEnd } from '../../contract/run/settings.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { Budget } from '../run/budget.ts'
import type { TraceContext } from '../run/loop-watch.ts'
import type { ApprovalRule, InputAnswer, RunGuards } from '../run/question.ts'
import type { SharedState } from '../session/shared-state.ts'
import type { StandardSchema } from '../standard-schema.ts'

/**
 * Context of a running tool call.
 *
 * **Contract**
 * - `signal` aborts with the run and on the tool's timeout; owned by the loop.
 * - The functions are synchronous, have no rate limit, and do nothing after the call has ended.
 * - `update` and `progress` never throw. `childEvent`, `changeContext` and `budget.charge` throw `ConfigError` `invalidOption` for invalid
 *   input.
 *
 * Source: docs/concepts/tools.md
 */
export interface ToolContext {
  readonly toolCallId: string
  readonly toolName: string
  readonly sessionId: string
  readonly loopId: string
  readonly signal: AbortSignal
  /** Budget of the run. Tools that call models must charge it. */
  readonly budget: Budget
  /** Guards of the run, to pass to nested loops. Absent outside of a run. */
  readonly guards?: RunGuards
  /** Trace position of the call, for outgoing requests. Absent if the run is not traced. */
  readonly trace?: TraceContext | undefined
  /** Shared state of the session, if the agent has it. Changes are recorded for this call. See `sharedState`. */
  readonly sharedState?: SharedState
  /** Replaces the partial result shown to users. Never sent to the model. */
  update(partial: ToolResult): void
  /** Emits one line of status text. */
  progress(text: string): void
  /**
   * Requests user input and pauses the call's timeout until the response: `inputRequested`. Never rejects. Resolves with `cancel` on a
   * timeout, without a client, after the call, or if `signal` aborts. Absent outside of a run. Throws `ConfigError` `invalidOption` for an
   * invalid question.
   */
  requestInput?(question: InputQuestion, signal?: AbortSignal): Promise<InputAnswer>
  /**
   * Pauses the call's timeout, such as while a user is asked in another way. Returns a function that resumes it. Absent outside of a run.
   */
  pauseTimeout?(): () => void
  /** Restarts the call's timeout after progress. Does nothing while it is paused. Absent outside of a run. */
  restartTimeout?(): void
  /** Forwards an event of a nested loop as a `childEvent` of the run. */
  childEvent(event: AgentEvent): void
  /** Background tasks of the run, which may outlive a call. Absent outside of a run. */
  background?(): Promise<BackgroundTasks>
  /** Requests a change of the context sent to the model. Changes apply in order, after the results of this turn. */
  changeContext(change: ContextChange): void
}

/** A task that continues in the background after its call. */
export interface BackgroundTask {
  /** Description for users and the model. */
  readonly task: string
  /** Whether an otherwise finished run waits for this task or stops it. */
  readonly onRunEnd: OnRunEnd
  /** Maximum number of concurrent tasks of the same tool. */
  readonly maxRunning: number
  /** Sends it a steering message. Returns false if it has ended or accepts none. */
  steer(text: string): boolean
  /**
   * Runs the task. It gets a context of its own, whose signal aborts if the task is stopped, exceeds the tool's timeout, or the run is
   * aborted. Errors are reported as its result.
   */
  work(ctx: ToolContext): Promise<ToolResult>
}

/** State of a running or finished background task. */
export interface BackgroundView {
  readonly backgroundId: string
  readonly toolName: string
  readonly task: string
  readonly isRunning: boolean
  /** Milliseconds of run time. */
  readonly elapsedMs: number
  /** Latest partial result, or the report. */
  readonly latest: ToolResult | undefined
}

/** Controls the background tasks of a run, for tools. Source: docs/concepts/several-agents.md */
export interface BackgroundTasks {
  /**
   * Starts a background task for the current call, once per call. Returns the result for the model. Throws `ToolError` `failed` if
   * `maxRunning` is reached or the call has ended.
   */
  start(task: BackgroundTask): ToolResult
  /** Returns all tasks of this run, in start order. */
  list(): BackgroundView[]
  /** Sends a steering message to a running task. Throws `ToolError` `failed` for an unknown or finished task. */
  steer(backgroundId: string, text: string): void
  /** Stops a running task; its report says so. Throws as `steer`. */
  stop(backgroundId: string): void
}

/**
 * Return value of a tool: a `ToolResult`, whose `content` may be a string, or any value. The model gets the value's JSON as text; the
 * application gets it as `details`. A tool that returns nothing has the result `(no output)`.
 */
export type ToolOutput = unknown

/** Schema of a tool's arguments: a Standard Schema (zod 4, valibot, …) or a JSON Schema with an object at its root. */
export type ToolParameters = StandardSchema | JsonSchema

/** Marks a client tool, whose calls run in a browser or other client. Created by `clientTool`. Source: docs/concepts/tools.md */
export interface ClientRun {
  /** Maximum characters of a result as JSON. */
  readonly maxResultChars: number
  /** Schema of a result. Default: any JSON. */
  readonly output?: ToolParameters
}

/**
 * A tool that a model may call.
 *
 * **Contract**
 * - `execute` gets validated arguments (parsed by the Standard Schema in `parameters`; `defineTool` types them). An error it throws becomes
 *   an error result for the model.
 * - A tool that ignores `ctx.signal` is raced and detached; its late value is dropped.
 * - `idempotent: true` promises that running a call twice is harmless. Only then may a resumed session rerun it.
 *
 * Source: docs/concepts/tools.md
 */
export interface AgentTool {
  /** Unique name that the model calls; matches `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string
  /** Display name for users. */
  readonly label: string
  /** Description for the model. */
  readonly description: string
  readonly parameters: ToolParameters
  /** JSON Schema for a Standard Schema that cannot produce one. */
  readonly jsonSchema?: JsonSchema
  /** Requires an approval: always, or depending on the arguments. Only `false` requires none. */
  readonly needsApproval?: ApprovalRule
  readonly idempotent?: boolean
  /** Milliseconds. Default: the agent's `toolTimeoutMs`. */
  readonly timeoutMs?: number
  /**
   * Promises to end soon after its signal. A cancelled call then waits up to three seconds for its result instead of being detached, and
   * keeps its `details` and `childLoopId`. The message of a `ToolError` with code `cancelled` or `timeout` goes to the model. For tools
   * that run loops or processes.
   */
  readonly endsOnAbort?: boolean
  /** Only on the revert tool: its agent numbers messages and shows the numbers to the model. */
  readonly revertPolicy?: RevertPolicy
  /** `whenFound`: offered after another tool's result lists it in `offers`; see `toolSearch`. Default: always. */
  readonly isOffered?: 'always' | 'whenFound'
  /**
   * On a search tool: names of tools that a provider's own search covers instead. They can be called without having been found here. See
   * `toolSearch`.
   */
  readonly searches?: readonly string[]
  /** Starts background tasks. At the start of a run, the model gets a report of interrupted ones. */
  readonly isBackground?: boolean
  /** Marks a client tool: a call waits for the client's result, at most `timeoutMs` if set, and `execute` is never called. */
  readonly client?: ClientRun
  /** Tools that are offered together with this one. Default: none. */
  readonly companions?: readonly AgentTool[]
  execute(args: JsonObject, ctx: ToolContext): ToolOutput
}
