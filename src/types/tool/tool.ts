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
 * What a running tool may use.
 *
 * **Contract**
 * - `signal` aborts on the run's abort and on the tool's timeout; it belongs to the loop.
 * - The functions may be called at any rate, are synchronous, and do nothing after the call ended. `update` and `progress` never throw;
 *   `childEvent`, `changeContext` and `budget.charge` throw `ConfigError` `invalidOption` for what is no event, change or usage.
 *
 * Source: docs/concepts/tools.md
 */
export interface ToolContext {
  readonly toolCallId: string
  readonly toolName: string
  readonly sessionId: string
  readonly loopId: string
  readonly signal: AbortSignal
  /** What the run may use. A tool that asks models charges them here. */
  readonly budget: Budget
  /** What watches over the run. A tool that starts loops passes it on; absent outside of a run. */
  readonly guards?: RunGuards
  /** Where the call stands in a trace, for what it asks of others. Absent where nobody traces the run. */
  readonly trace?: TraceContext | undefined
  /** What the session shares with its pages, where its agent has such; changes are made in the name of the call. See `sharedState`. */
  readonly sharedState?: SharedState
  /** Replaces the partial result shown to people; never sent to the model. */
  update(partial: ToolResult): void
  /** One line of status text. */
  progress(text: string): void
  /**
   * Asks a person, while the clock of the call stands still: `inputRequested`. Never rejects; `cancel` when nobody answered in time or can, the call is
   * over, or `signal` aborts. Absent outside of a run. Throws `ConfigError` `invalidOption` for what is no question.
   */
  requestInput?(question: InputQuestion, signal?: AbortSignal): Promise<InputAnswer>
  /**
   * Stops the clock of the call, as `requestInput` does, while somebody is asked in another way; the function that it returns starts it again. Absent
   * outside of a run.
   */
  pauseTimeout?(): () => void
  /** Restarts the clock of the call, for work that has just made progress. Does nothing while the clock stands still. Absent outside of a run. */
  restartTimeout?(): void
  /** Passes on an event of a loop that this call started, as a `childEvent` of the run. */
  childEvent(event: AgentEvent): void
  /** What goes on beside the run: a call may leave something there when it ends. Absent outside of a run. */
  background?(): Promise<BackgroundTasks>
  /** Asks for a change of what the model is sent; applied, in the order asked, after the results of this turn. */
  changeContext(change: ContextChange): void
}

/** Work that a call leaves to go on beside the run. */
export interface BackgroundTask {
  /** What it is to do, for people and for the model. */
  readonly task: string
  /** Once the run has nothing else to do: it waits for this, or stops it. */
  readonly onRunEnd: OnRunEnd
  /** How many of the same tool may go on at a time. */
  readonly maxRunning: number
  /** Says something to it. False: it has ended, or takes nothing more. */
  steer(text: string): boolean
  /**
   * Does it. The context is one of its own: its signal aborts when the work is stopped, takes longer than the tool's timeout, or with the run. What it
   * throws is reported as an error.
   */
  work(ctx: ToolContext): Promise<ToolResult>
}

/** What goes on beside a run, or has ended. */
export interface BackgroundView {
  readonly backgroundId: string
  readonly toolName: string
  readonly task: string
  readonly isRunning: boolean
  /** Milliseconds it has run. */
  readonly elapsedMs: number
  /** What it has shown so far, or its report. */
  readonly latest: ToolResult | undefined
}

/** What goes on beside a run, for tools. Source: docs/concepts/several-agents.md */
export interface BackgroundTasks {
  /**
   * Begins a task on behalf of the call that asks, once per call, and returns what the model is told. Throws `ToolError` `failed` where as many go on as may,
   * and when the call is over.
   */
  start(task: BackgroundTask): ToolResult
  /** All of this run, in the order in which they began. */
  list(): BackgroundView[]
  /** Says something to one that runs. Throws `ToolError` `failed` for an unknown id, and for one that has ended. */
  steer(backgroundId: string, text: string): void
  /** Stops one that runs; its report says so. Throws as `steer`. */
  stop(backgroundId: string): void
}

/**
 * What a tool may return: a `ToolResult`, whose `content` may be a string, or any value. Of a value the model gets the text and the application gets `details`:
 * both are what `JSON.stringify` makes of it. A tool that returns nothing has the result `(no output)`.
 */
export type ToolOutput = unknown

/** How a tool describes its arguments: a Standard Schema (zod 4, valibot, …) or a JSON Schema with an object at its root. */
export type ToolParameters = StandardSchema | JsonSchema

/** That a page runs a tool, not this process. `clientTool` makes it. Source: docs/concepts/tools.md */
export interface ClientRun {
  /** Characters that the JSON of a result may have. */
  readonly maxResultChars: number
  /** What a result must be. Default: anything. */
  readonly output?: ToolParameters
}

/**
 * Something a model may call.
 *
 * **Contract**
 * - `execute` gets validated arguments (parsed by the Standard Schema, if that is what `parameters` is; `defineTool` types them). What it throws becomes an
 *   error result for the model.
 * - A tool that ignores `ctx.signal` is raced and detached: its late value is dropped.
 * - `idempotent: true` promises that running the same call twice does no harm; only then may a resumed session rerun it.
 *
 * Source: docs/concepts/tools.md
 */
export interface AgentTool {
  /** Unique, `[a-zA-Z0-9_-]{1,64}`; what the model calls. */
  readonly name: string
  /** For people. */
  readonly label: string
  /** For the model. */
  readonly description: string
  readonly parameters: ToolParameters
  /** JSON Schema beside a Standard Schema that cannot produce one. */
  readonly jsonSchema?: JsonSchema
  /** Ask a person first: always, or as the arguments require. Only `false` does not ask. */
  readonly needsApproval?: ApprovalRule
  readonly idempotent?: boolean
  /** Milliseconds; overrides the agent's `toolTimeoutMs`. */
  readonly timeoutMs?: number
  /**
   * Promises to end soon after its signal: a call that is cut off waits up to three seconds for what it still has to say, instead of being
   * detached at once. Of a result, `details` and `childLoopId` are kept. A `ToolError` with code `cancelled`, or `timeout` after a timeout,
   * becomes what the model reads. For tools that run loops or processes.
   */
  readonly endsOnAbort?: boolean
  /** Only on the revert tool: an agent that has it numbers its messages and shows the numbers to the model. */
  readonly revertPolicy?: RevertPolicy
  /** `whenFound`: offered once a result of another tool has named it in `offers`; see `toolSearch`. Default: always. */
  readonly isOffered?: 'always' | 'whenFound'
  /**
   * On a tool that finds others: the names of those that a service with a search of its own may search in its place. They can then be called without having
   * been found here. See `toolSearch`.
   */
  readonly searches?: readonly string[]
  /** Leaves work behind that goes on beside the run: at its beginning, a run tells the model what of that was cut off before. */
  readonly isBackground?: boolean
  /** A page runs it: a call waits for its result, for `timeoutMs` where that is given, and `execute` is never called. */
  readonly client?: ClientRun
  /** Tools that are offered wherever this one is. Default: none. */
  readonly companions?: readonly AgentTool[]
  execute(args: JsonObject, ctx: ToolContext): ToolOutput
}
