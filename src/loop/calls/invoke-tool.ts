import { AbortScope } from '../../base/abort.ts'
import { startTimer } from '../../base/timer.ts'
import type { ContextChange } from '../../contract/context/context-change.ts'
import { errorText, LoadError, ToolError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { TraceContext } from '../../types/run/loop-watch.ts'
import type { ToolContext } from '../../types/tool/tool.ts'
import { CallQuestions } from '../ask/call-questions.ts'
import type { CallInRun } from '../background/loop-background.ts'
import { loadBackground } from '../background.ts'
import type { LoopState } from '../loop-state.ts'
import type { JoinedPlugins } from '../plugins/plugin-port.ts'
import type { PreparedCall } from './prepare-call.ts'
import { checkChange, checkChildEvent } from './tool-reports.ts'
import { errorResult, toolErrorText, toToolResult } from './tool-result.ts'

/** Milliseconds that a cancelled call waits for the result of a tool with `endsOnAbort`. */
const endingGraceMs = 3000

/**
 * Runs a tool and returns its result. Errors become error results. Returns a promise only if the tool does.
 *
 * **Contract**
 * - Aborts the tool's signal on a timeout or when the run is stopped. Then ends the call without waiting for the tool, and drops later
 *   output. A tool with `endsOnAbort` has three seconds to return its outcome.
 * - Waits for update hooks before it settles, unless the call is stopped.
 * - Adds requested context changes to `changes`.
 * - After the call settles, the tool context's functions do nothing. Withdraws requests and removes all timers and listeners.
 */
export function invokeTool(loop: LoopState, call: PreparedCall, changes: ContextChange[]): ToolResult | Promise<ToolResult> {
  const running = new RunningCall(loop, call, changes)
  try {
    const returned: unknown = running.execute()
    if (isThenable(returned)) return running.settle(returned)
    return loop.hooks.watchesUpdates || running.stop.aborted
      ? running.settle(Promise.resolve(returned))
      : running.end(toToolResult(call.name, returned, loop.log))
  } catch (error) {
    return running.settle(Promise.reject(error))
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
  } catch {
    // A value whose `then` getter throws is not a promise.
    return false
  }
}

/** A running tool call: converts its reports to events until the call ends. */
class RunningCall implements CallInRun {
  /** Aborts with the run, and on the call's timeout. */
  readonly stop: AbortScope
  readonly #loop: LoopState
  readonly #call: PreparedCall
  readonly #changes: ContextChange[]
  /** The call's timeout in milliseconds, and the function that stops the timer. User input requests pause the timeout. */
  readonly #timeoutMs: number | undefined
  #stopTimer: (() => void) | undefined
  #asking = 0
  /** Requests of the call and its nested loops. Created on first use. */
  #questions: CallQuestions | undefined
  #isOver = false
  /** Update hooks so far, in order. */
  #reported: Promise<void> | undefined

  constructor(loop: LoopState, call: PreparedCall, changes: ContextChange[]) {
    const timeoutMs = call.tool.timeoutMs ?? loop.config.toolTimeoutMs
    this.#loop = loop
    this.#call = call
    this.#changes = changes
    this.stop = new AbortScope(loop.stop)
    this.#timeoutMs = timeoutMs
    this.#startClock()
    loop.options.runningTools?.set(call.id, timeoutMs)
  }

  /** Calls the tool within the loop's watches. */
  execute(): unknown {
    const { tool, args, id: toolCallId, name: toolName } = this.#call
    const { watches, plugins } = this.#loop
    const run = (): unknown => tool.execute(args, this.context())
    const work = plugins?.watchesCalls === true ? this.#amongPlugins(plugins, run) : run
    if (watches === undefined) return work()
    return watches.around({ type: 'toolCall', toolCallId, toolName, description: tool.description, stop: this.stop }, () => {
      const returned = work()
      // A lazy thenable, such as a query, must also start within the watches.
      return isThenable(returned) && !(returned instanceof Promise) ? Promise.resolve(returned) : returned
    })
  }

  #amongPlugins(plugins: JoinedPlugins, run: () => unknown): () => Promise<ToolResult> {
    const { id: toolCallId, name: toolName, args } = this.#call
    const { signal } = this.stop
    return plugins.around({ toolCallId, toolName, args, signal }, async () => toToolResult(toolName, await run(), this.#loop.log))
  }

  get questions(): CallQuestions {
    if (this.#questions !== undefined) return this.#questions
    const { id, name } = this.#call
    this.#questions = new CallQuestions(this.#loop, { id, name, stop: this.stop, pause: () => this.#pauseClock() })
    if (this.#isOver) this.#questions.close()
    return this.#questions
  }

  get id(): string {
    return this.#call.id
  }

  get name(): string {
    return this.#call.name
  }

  again(): CallInRun {
    return new RunningCall(this.#loop, this.#call, [])
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get trace(): TraceContext | undefined {
    return this.#loop.watches?.trace(this.#call.id)
  }

  /** Creates the tool context. The context's functions do not use `this`, because tools pass them as callbacks. */
  context(): ToolContext {
    const { id: toolCallId, name: toolName } = this.#call
    const { events, budget } = this.#loop
    const { sharedState, context } = this.#loop.options
    return madeWhenAsked({
      [running]: this,
      context,
      toolCallId,
      toolName,
      sessionId: events.sessionId,
      loopId: events.loopId,
      budget,
      update: (partial) => this.#update(partial),
      // Accept any value, because the event must be JSON and this function must not throw.
      progress: (line) =>
        this.#emit({ type: 'progressMessage', toolCallId, toolName, text: typeof line === 'string' ? line : errorText(line) }),
      data: (name, value, options) => {
        if (!this.#isOver) this.#loop.data.send(name, value, options, toolCallId)
      },
      requestInput: (question, signal) => this.questions.input(question, signal),
      pauseTimeout: () => this.#pauseClock(),
      restartTimeout: () => this.#restartClock(),
      childEvent: (event) => {
        checkChildEvent(event)
        this.#emit({ type: 'childEvent', toolCallId, toolName, event })
      },
      ...(sharedState !== undefined && { sharedState: sharedState.ofCall(toolCallId, () => this.#assertOn()) }),
      background: async () => (await loadBackground(this.#loop)).of(this),
      changeContext: (change) => {
        const checked = checkChange(change)
        if (!this.#isOver) this.#changes.push(checked)
      },
    })
  }

  /** Waits for the tool's promise, unless the call is stopped first. Never rejects. */
  async settle(work: PromiseLike<unknown>): Promise<ToolResult> {
    const { stop } = this
    const { tool, name } = this.#call
    let result: ToolResult
    try {
      result = toToolResult(name, await stop.race(work), this.#loop.log)
    } catch (error) {
      result = stop.aborted && tool.endsOnAbort === true ? await this.#cutOff(work, error) : this.#failed(error)
    }
    if (this.#reported !== undefined) await stop.race(this.#reported).catch(() => undefined)
    return this.end(result)
  }

  #failed(error: unknown): ToolResult {
    // A missing chunk fails the run, because the model cannot fix it.
    if (LoadError.isInstance(error)) this.#loop.fail(error)
    // A ToolError is a message for the model. Any other error is a bug, so log it for the tool's author.
    else if (!this.#loop.stop.aborted && !ToolError.isInstance(error)) this.#warn(error)
    return this.#loop.stop.aborted || LoadError.isInstance(error) ? errorResult('Cancelled') : this.#failureResult(error)
  }

  #warn(error: unknown): void {
    const { id: toolCallId, name: toolName } = this.#call
    this.#loop.log.warn('toolFailed', {
      toolCallId,
      toolName,
      message: `Tool ${JSON.stringify(toolName)} threw: ${errorText(error).replace(/[.!?]?$/, '.')}`,
      hint: 'The model received the error and the run continues. Throw a ToolError to report an error only to the model.',
    })
  }

  /** Ends the call. Ignores later reports. */
  end(result: ToolResult): ToolResult {
    this.#isOver = true
    this.#questions?.close()
    this.#loop.options.runningTools?.delete(this.#call.id)
    this.#stopTimer?.()
    this.stop.release()
    return result
  }

  #startClock(): void {
    const timeoutMs = this.#timeoutMs
    if (timeoutMs !== undefined) this.#stopTimer = startTimer(timeoutMs, () => this.stop.abort(timeout(timeoutMs)))
  }

  #restartClock(): void {
    if (this.#asking > 0 || this.#isOver || this.stop.aborted) return
    this.#stopTimer?.()
    this.#startClock()
  }

  /** Pauses the timeout. The timeout restarts when no request is pending. */
  #pauseClock(): () => void {
    let isPaused = true
    this.#asking += 1
    this.#stopTimer?.()
    return () => {
      if (!isPaused) return
      isPaused = false
      this.#asking -= 1
      this.#restartClock()
    }
  }

  /**
   * Returns the error result of a cancelled call, with the tool's error message if it matches the reason, and the `details` that it
   * reported.
   */
  async #cutOff(work: PromiseLike<unknown>, reason: unknown): Promise<ToolResult> {
    const failed = this.#failed(reason)
    const late = await within(work, endingGraceMs)
    if (late === undefined) return failed
    if ('error' in late) return isSameEnd(late.error, this.stop.reason) ? this.#failureResult(late.error) : failed
    const { details, childLoopId } = toToolResult(this.#call.name, late.value)
    return { ...failed, ...(details !== undefined && { details }), ...(childLoopId !== undefined && { childLoopId }) }
  }

  #failureResult(error: unknown): ToolResult {
    return errorResult(this.#loop.log.withoutSecrets(toolErrorText(error)))
  }

  #update(partial: ToolResult): void {
    if (this.#isOver) return
    const { id: toolCallId, name: toolName } = this.#call
    const { hooks } = this.#loop
    const partialResult = toToolResult(toolName, partial, this.#loop.log)
    // Check again before emitting, because a hook may take longer than the call.
    const emit = () => this.#emit({ type: 'toolExecutionUpdate', toolCallId, toolName, partialResult })
    if (!hooks.watchesUpdates) {
      emit()
      return
    }
    const report = () => (this.#isOver ? undefined : hooks.update(this.#call, partialResult, emit))
    this.#reported = (this.#reported ?? Promise.resolve()).then(report)
  }

  /** Throws if the call has ended, so that a detached tool has no effect. */
  #assertOn(): void {
    if (this.#isOver || this.stop.aborted) throw new ToolError('cancelled', 'The call has ended and can no longer change anything.')
  }

  /** Returns whether the call was still running. */
  #emit(body: ToolReport): boolean {
    if (!this.#isOver) this.#loop.events.emit(body)
    return !this.#isOver
  }
}

/** Links a context to its call. A private field would be missing in proxies of a context. */
const running = Symbol('running call')

type OfCall = { readonly [running]: RunningCall }
type Late = 'signal' | 'guards' | 'trace'

const lateSignal = {
  enumerable: true,
  get(this: OfCall) {
    return this[running].stop.signal
  },
}

const lateGuards = {
  enumerable: true,
  get(this: OfCall) {
    return this[running].questions.guards
  },
}

const lateTrace = {
  enumerable: true,
  get(this: OfCall) {
    return this[running].trace
  },
}

/**
 * Adds rarely used properties lazily, as own properties, so that copies of a context have them. All contexts share the same three
 * functions: for each new getter, V8 retains a hidden class and everything that the getter references until a full garbage collection.
 */
function madeWhenAsked<Rest extends Omit<ToolContext, Late> & OfCall>(context: Rest): Rest & Pick<ToolContext, Late> {
  Object.defineProperty(context, 'signal', lateSignal)
  Object.defineProperty(context, 'guards', lateGuards)
  Object.defineProperty(context, 'trace', lateTrace)
  return context as Rest & Pick<ToolContext, Late> // because of the three lines above
}

/** A report of a running tool. */
type ToolReport = { toolCallId: string; toolName: string } & (
  | { type: 'toolExecutionUpdate'; partialResult: ToolResult }
  | { type: 'progressMessage'; text: string }
  | { type: 'childEvent'; event: AgentEvent }
)

/** Returns the outcome of `work` within `ms`, or `undefined` after that. */
function within(work: PromiseLike<unknown>, ms: number): Promise<{ value: unknown } | { error: unknown } | undefined> {
  return new Promise((resolve) => {
    const stopTimer = startTimer(ms, () => resolve(undefined))
    const settle = (end: { value: unknown } | { error: unknown }) => {
      stopTimer()
      resolve(end)
    }
    work.then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error }),
    )
  })
}

/** Returns whether the error of a stopped tool matches its abort reason: a timeout, or a cancellation. */
function isSameEnd(error: unknown, reason: unknown): boolean {
  const code = ToolError.isInstance(reason) && reason.code === 'timeout' ? 'timeout' : 'cancelled'
  return ToolError.isInstance(error) && error.code === code
}

/** Creates the timeout error for the tool and the model. */
function timeout(ms: number): ToolError {
  return new ToolError('timeout', `Tool exceeded timeout of ${duration(ms)}`)
}

/** Formats a duration as the specification does: `250ms`, `1s`, `1.5s`. */
function duration(ms: number): string {
  return ms < 1000 ? `${ms}ms` : `${ms / 1000}s`
}
