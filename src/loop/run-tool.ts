import { linkAbort, raceAbort, startTimer } from '../base/abort.ts'
import type { Budget } from '../types/budget.ts'
import type { ContextChange } from '../types/context-change.ts'
import { errorText, ToolError } from '../types/errors.ts'
import type { AgentEvent } from '../types/event.ts'
import type { JsonObject } from '../types/json.ts'
import type { AgentTool, ToolContext } from '../types/tool.ts'
import type { ToolResult } from '../types/tool-result.ts'
import type { LoopRun } from './loop-run.ts'
import { errorResult, toToolResult } from './tool-result.ts'

/** A call that is ready to run: found, validated, approved. */
export interface PreparedCall {
  id: string
  name: string
  tool: AgentTool
  /** As the model wrote them, plain JSON: what people see, approvals are bound to and journals keep. */
  written: JsonObject
  /** As the schema parsed them, which may be anything: dates, bigints, maps. Only the tool sees these. */
  args: JsonObject
}

/**
 * Runs a tool and returns its result; everything it throws becomes an error result.
 *
 * **Contract**
 * - The tool is raced against the run's signal and its timeout (its own, else the configured one). It is signalled first; if it does not
 *   listen it is detached, and whatever it still does is dropped.
 * - Update hooks have run before this settles, unless the call is stopped.
 * - After this settles, the context does nothing, and no timer or listener is left.
 */
export async function runTool(run: LoopRun, call: PreparedCall): Promise<ToolResult> {
  const timeoutMs = call.tool.timeoutMs ?? run.config.toolTimeoutMs
  const link = linkAbort(run.signal)
  const stopTimer = timeoutMs === undefined ? undefined : startTimer(timeoutMs, () => link.abort(timeout(timeoutMs)))
  const context = new RunningToolContext(run, call, link.signal)
  run.options.runningTools?.set(call.id, timeoutMs)
  try {
    // An async function, so that a tool that throws at once is a rejection too.
    const work = (async () => call.tool.execute(call.args, context))()
    const result = await raceAbort(work, link.signal).then(
      (returned) => toToolResult(call.name, returned),
      (error) => errorResult(run.signal.aborted ? 'Cancelled' : errorText(error)),
    )
    if (run.lifecycle?.watchesUpdates) await raceAbort(context.reported, link.signal).catch(() => undefined)
    return result
  } finally {
    context.end()
    run.options.runningTools?.delete(call.id)
    stopTimer?.()
    link.release()
  }
}

/** What a running tool sees. Turns its reports into events until the call has ended. */
class RunningToolContext implements ToolContext {
  readonly toolCallId: string
  readonly toolName: string
  readonly sessionId: string
  readonly loopId: string
  readonly signal: AbortSignal
  readonly budget: Budget
  #run: LoopRun | undefined
  #reported: Promise<void> = Promise.resolve()

  constructor(run: LoopRun, call: PreparedCall, signal: AbortSignal) {
    this.#run = run
    this.toolCallId = call.id
    this.toolName = call.name
    this.sessionId = run.events.sessionId
    this.loopId = run.events.loopId
    this.signal = signal
    this.budget = run.budget
  }

  // Arrow functions, because tools pass them on as callbacks.
  readonly update = (partial: ToolResult): void => {
    const { toolCallId, toolName } = this
    const lifecycle = this.#run?.lifecycle
    if (this.#run === undefined) return
    const partialResult = toToolResult(toolName, partial)
    // Looked up again when it is reported: a hook may take longer than the call.
    const emit = () => {
      this.#run?.events.emit({ type: 'toolExecutionUpdate', toolCallId, toolName, partialResult })
      return this.#run !== undefined
    }
    if (!lifecycle?.watchesUpdates) {
      emit()
      return
    }
    const call = { id: toolCallId, name: toolName }
    const report = () => (this.#run === undefined ? undefined : lifecycle.update(call, partialResult, emit))
    this.#reported = this.#reported.then(report)
  }

  readonly progress = (line: string): void => {
    const { toolCallId, toolName } = this
    // Whatever a tool passes: an event must be JSON, and this must not throw.
    const text = typeof line === 'string' ? line : errorText(line)
    this.#run?.events.emit({ type: 'progressMessage', toolCallId, toolName, text })
  }

  readonly childEvent = (event: AgentEvent): void => {
    const { toolCallId, toolName } = this
    this.#run?.events.emit({ type: 'childEvent', toolCallId, toolName, event })
  }

  readonly changeContext = (change: ContextChange): void => {
    this.#run?.contextChanges.push(change)
  }

  /** Resolves when the hooks of all updates so far have run; they keep their order. */
  get reported(): Promise<void> {
    return this.#reported
  }

  end(): void {
    this.#run = undefined
  }
}

/** Tells a tool, and the model, that it ran too long. */
function timeout(ms: number): ToolError {
  return new ToolError('timeout', `Tool exceeded timeout of ${duration(ms)}`)
}

/** `250ms`, `1s`, `1.5s`, as the specification prints durations. */
function duration(ms: number): string {
  return ms < 1000 ? `${ms}ms` : `${ms / 1000}s`
}
