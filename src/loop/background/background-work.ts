import { ToolError } from '../../contract/errors.ts'
import { type AgentMessage, extensionMessage, now } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import { keptReportKind, openBackground } from '../../types/tool/open-calls.ts'
import type { BackgroundTask, BackgroundTasks, BackgroundView, ToolContext } from '../../types/tool/tool.ts'
import { offload } from '../calls/offload.ts'
import { addNotice } from '../intake.ts'
import type { LoopState } from '../loop-state.ts'
import type { CallInRun, LoopBackground } from './loop-background.ts'
import { cutOffReport, keptReport, reportOf, startedResult } from './reports.ts'

/** A running or finished task. */
interface Running {
  readonly backgroundId: string
  readonly call: CallInRun
  readonly task: BackgroundTask
  readonly startedAt: number
  endedAt: number | undefined
  latest: ToolResult | undefined
  isStoppedByEnd: boolean
  /** Resolves when the task's report is queued. Never rejects. */
  done: Promise<void>
}

/** A report that the model has not received. */
interface Report {
  readonly message: AgentMessage
  /** Whether the report's messages are in the history. */
  readonly isKept: boolean
  /** Whether the run stopped the task because it had no other work. In that case, the report causes no further turn. */
  readonly isQuiet: boolean
}

/**
 * One run's background tasks.
 *
 * **Contract**
 * - Each task emits one `backgroundStart` and one `backgroundEnd`, and then adds one report. Hooks and offloading apply to reports as they
 *   do to tool results. The next turn sends a report as a user message, without input filters, because a report is not user input.
 * - `close` stops running tasks and waits up to three seconds. Stores undelivered reports in the history as extension messages. The next
 *   run starts with these reports, and reports each task that a process exit interrupted.
 *
 * Source: docs/concepts/several-agents.md
 */
export class BackgroundWork implements LoopBackground {
  readonly #loop: LoopState
  readonly #all: Running[] = []
  /** Tasks by call id, until the call's result is in the history. */
  readonly #begun = new Map<string, string>()
  #reports: Report[]
  /** Number of tasks that earlier runs started in this history. */
  readonly #before: number
  #wake: (() => void) | undefined

  constructor(loop: LoopState) {
    this.#loop = loop
    const { messages } = loop.context
    this.#before = messages.filter((message) => message.role === 'toolResult' && message.backgroundId !== undefined).length
    this.#reports = openBackground(messages).map((open) => ({
      message: keptReport(open) ?? cutOffReport(open),
      isKept: true,
      isQuiet: false,
    }))
  }

  get isRunning(): boolean {
    return this.#all.some(({ endedAt }) => endedAt === undefined)
  }

  get isOpen(): boolean {
    return this.isRunning || this.#reports.some(({ isKept }) => !isKept)
  }

  get hasReports(): boolean {
    return this.#reports.some(({ isQuiet }) => !isQuiet)
  }

  takeReports(): AgentMessage[] {
    const taken = this.#reports.map(({ message }) => message)
    this.#reports = []
    return taken
  }

  begunBy(toolCallId: string): string | undefined {
    const backgroundId = this.#begun.get(toolCallId)
    this.#begun.delete(toolCallId)
    return backgroundId
  }

  of(caller: CallInRun): BackgroundTasks {
    return {
      start: (task) => this.#start(caller, task),
      list: () => this.#all.map(viewOf),
      steer: (id, text) => {
        if (!this.#find(id).task.steer(text))
          throw new ToolError('failed', `${JSON.stringify(id)} is about to end and accepts no more messages.`)
      },
      stop: (id) => this.#find(id).call.stop.abort(new ToolError('cancelled', 'Stopped at your request.')),
    }
  }

  async next(): Promise<void> {
    if (!this.#all.some(({ endedAt, task }) => endedAt === undefined && task.onRunEnd === 'wait')) return this.#stopAll()
    const { stop, inputs } = this.#loop
    const leave: (() => void)[] = []
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      leave.push(
        inputs.onQueued(resolve),
        stop.wait(() => resolve()),
      )
    })
    this.#wake = undefined
    for (const act of leave) act()
  }

  async close(): Promise<void> {
    await this.#stopAll()
    const undelivered = this.#reports.filter(({ isKept }) => !isKept)
    this.#reports = []
    for (const { message } of undelivered) {
      // Convert to JSON and back, so that the stored message equals what the next run reads.
      await addNotice(this.#loop, extensionMessage(keptReportKind, { message: JSON.parse(JSON.stringify(message)) }))
    }
  }

  async #stopAll(): Promise<void> {
    const running = this.#all.filter(({ endedAt }) => endedAt === undefined)
    for (const entry of running) {
      entry.isStoppedByEnd = true
      entry.call.stop.abort(new ToolError('cancelled', 'Stopped because the run ended first.'))
    }
    await Promise.all(running.map(({ done }) => done))
  }

  #start(caller: CallInRun, task: BackgroundTask): ToolResult {
    const { name: toolName, id: toolCallId } = caller
    if (caller.isOver || this.#begun.has(toolCallId))
      throw new ToolError('failed', `This "${toolName}" call cannot start another background task.`)
    const others = this.#all.filter((other) => other.endedAt === undefined && other.call.name === toolName)
    if (others.length >= task.maxRunning) {
      const ids = others.map(({ backgroundId }) => backgroundId).join(', ')
      const words = `${others.length} "${toolName}" tasks are already running in the background, which is the limit: ${ids}. Wait for a report, or stop one.`
      throw new ToolError('failed', words)
    }
    const backgroundId = `${toolName}-${this.#before + this.#all.length + 1}`
    const call = caller.again()
    const entry: Running = {
      ...{ backgroundId, call, task, startedAt: now() },
      ...{ endedAt: undefined, latest: undefined, isStoppedByEnd: false, done: Promise.resolve() },
    }
    this.#all.push(entry)
    this.#begun.set(toolCallId, backgroundId)
    this.#loop.events.emit({ type: 'backgroundStart', backgroundId, toolCallId, toolName, task: task.task })
    entry.done = this.#finish(entry, call.settle(work(entry)))
    return startedResult(entry)
  }

  /** Reports a finished task. Never rejects. */
  async #finish(entry: Running, settling: Promise<ToolResult>): Promise<void> {
    const { backgroundId, call } = entry
    const { hooks, events } = this.#loop
    const { id: toolCallId, name: toolName } = call
    const settled = await settling
    const seen = (await hooks.endTool(call, settled)) ?? settled
    const result = (await offload(this.#loop, call, seen)) ?? seen
    const { isError = false, childLoopId } = result
    const child = childLoopId === undefined ? {} : { childLoopId }
    events.emit({ type: 'backgroundEnd', backgroundId, toolCallId, toolName, result, isError, ...child })
    entry.latest = (await hooks.afterTool(call, result)) ?? result
    entry.endedAt = now()
    this.#reports.push({ message: reportOf(entry, entry.latest), isKept: false, isQuiet: entry.isStoppedByEnd })
    this.#wake?.()
  }

  #find(backgroundId: string): Running {
    const found = this.#all.find((entry) => entry.backgroundId === backgroundId)
    if (found === undefined) {
      const known = this.#all.map((entry) => entry.backgroundId).join(', ')
      throw new ToolError('failed', `No background task has the id ${JSON.stringify(backgroundId)}. Known ids: ${known || 'none'}.`)
    }
    if (found.endedAt === undefined && !found.call.isOver) return found
    throw new ToolError('failed', `${JSON.stringify(backgroundId)} has ended. See its report for the outcome.`)
  }
}

/**
 * Runs the task. Async, so that a synchronous throw becomes a rejection. Ignores its partial results, because the call has already ended.
 */
async function work(entry: Running): Promise<ToolResult> {
  const update: ToolContext['update'] = (partial) => {
    entry.latest = partial
  }
  return entry.task.work({ ...entry.call.context(), update })
}

function viewOf({ backgroundId, call, task, startedAt, endedAt, latest }: Running): BackgroundView {
  const isRunning = endedAt === undefined
  return { backgroundId, toolName: call.name, task: task.task, isRunning, elapsedMs: (endedAt ?? now()) - startedAt, latest }
}
