import { type LinkedAbort, linkAbort, settleWithin } from '../base/abort.ts'
import { ExecutionBudget } from '../context/execution-budget.ts'
import type { Budget } from '../types/budget.ts'
import type { ContextChange } from '../types/context-change.ts'
import { errorText, failureOf, JournalError } from '../types/errors.ts'
import type { AgentEvent, PendingApproval, RunFailure } from '../types/event.ts'
import type { JournalEntry } from '../types/journal.ts'
import type { JsonObject, JsonValue } from '../types/json.ts'
import { logWarning } from '../types/logger.ts'
import { type AgentMessage, now } from '../types/message.ts'
import { combineUsage, emptyUsage, type Usage } from '../types/usage.ts'
import type { Approvals } from './approvals.ts'
import type { ContextWindow } from './context-window.ts'
import { EventEmitter } from './event-emitter.ts'
import type { AgentContext, LoopConfig, MessageSupplier } from './loop-config.ts'
import type { LoopLifecycle } from './loop-lifecycle.ts'
import type { NodeIds } from './node-ids.ts'

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
  approvals?: Approvals
  /** Filled with the calls that run now and their timeouts in ms (`undefined`: unbounded). */
  runningTools?: Map<string, number | undefined>
}

/** How long an aborted run still waits for its journal, in ms. */
const journalGraceMs = 1000

/** The state of one loop while it runs: what it works on, what it has used, and how it reports. */
export class LoopRun {
  readonly context: AgentContext
  readonly config: LoopConfig
  readonly options: LoopOptions
  readonly agentId: string
  readonly events: EventEmitter
  readonly newMessages: AgentMessage[] = []
  readonly pausedCalls: PendingApproval[] = []
  readonly budget: ExecutionBudget
  /** What tools of this turn want taken out of the context. */
  readonly contextChanges: ContextChange[] = []
  /** Hooks and filters; absent where there are none. */
  lifecycle: LoopLifecycle | undefined
  /** Absent unless the agent can revert. */
  nodeIds: NodeIds | undefined
  /** What refused to go on. */
  rejection: string | undefined
  turnIndex = 0
  usage: Usage = emptyUsage()
  /** Set once, by the first thing that stops the run from outside the model: a journal that refuses, a defect. */
  failure: RunFailure | undefined
  /** Why the last model call failed. */
  modelFailure: RunFailure | undefined
  #window: ContextWindow | undefined
  readonly #stop: LinkedAbort
  readonly #logged = new Set<string>()
  readonly #emitFailed = (error: unknown) => this.warnOnce('emitFailed', errorText(error))

  constructor(
    ids: { agentId: string; sessionId: string; loopId: string; runId: string },
    context: AgentContext,
    config: LoopConfig,
    options: LoopOptions,
  ) {
    this.context = context
    this.config = config
    this.options = options
    this.agentId = ids.agentId
    this.budget = new ExecutionBudget(config.limits, options.budget)
    this.events = new EventEmitter(ids, (event) => this.#deliver(event))
    this.#stop = linkAbort(options.signal)
  }

  /** Aborts when the caller stops the run, or when it has failed. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Ends the run with an error: no further side effect begins, running tools are signalled. */
  fail(error: unknown): void {
    if (this.failure !== undefined) return
    this.failure = failureOf(error)
    this.#stop.abort(error)
  }

  /** Gives back what the run holds on to. */
  release(): void {
    this.#stop.release()
  }

  /** Puts a message into the history. Tool results have their number already: they were made durable before. */
  append(message: AgentMessage): void {
    if (message.role !== 'toolResult') this.nodeIds?.assign(message)
    this.context.messages.push(message)
    this.newMessages.push(message)
  }

  /** What of the history is sent, and how much room it takes. */
  async contextWindow(): Promise<ContextWindow> {
    if (this.#window === undefined) {
      const { ContextWindow } = await import('./context-window.ts')
      this.#window = new ContextWindow(this.context, this.config)
    }
    return this.#window
  }

  /** Whether messages wait at `supplier`. One that throws ends the run. */
  hasWaiting(supplier: MessageSupplier | undefined): boolean {
    try {
      return supplier?.waiting() === true
    } catch (error) {
      this.fail(error)
      return false
    }
  }

  /** What `supplier` hands over at a checkpoint; nothing once the run was stopped: then it belongs to the next one. */
  takeFrom(supplier: MessageSupplier | undefined): readonly AgentMessage[] {
    if (supplier === undefined || this.signal.aborted) return []
    return this.lifecycle === undefined ? supplier.take() : this.lifecycle.take(supplier)
  }

  addUsage(usage: Usage): void {
    this.usage = combineUsage(this.usage, usage)
    this.budget.charge(usage, this.config.model.config.cost)
  }

  /**
   * Makes `entry` durable. Throws `JournalError` when the journal refuses, or does not answer within a second of an abort. Returns at once
   * when there is no journal, or when it has refused something: then it is asked for nothing more.
   */
  async record(entry: JournalEntry): Promise<void> {
    const { journal } = this.config
    if (journal === undefined || this.failure?.code === 'journal') return
    const { sessionId, loopId, runId } = this.events
    const record = { entry, agentId: this.agentId, sessionId, loopId, runId, turnIndex: this.turnIndex, at: now() }
    try {
      await settleWithin(journal.append(record, this.context), this.options.signal, journalGraceMs)
    } catch (error) {
      throw new JournalError(error)
    }
  }

  #deliver(event: AgentEvent): void {
    try {
      // May be async all the same: one that writes events to a connection, say.
      const outcome: unknown = this.options.emit(event)
      if (outcome !== undefined && outcome instanceof Promise) outcome.catch(this.#emitFailed)
    } catch (error) {
      this.#emitFailed(error)
    }
  }

  /** Logs a warning; a broken logger never disturbs the run. */
  warn(event: string, fields: JsonObject): void {
    logWarning(this.config.logger, event, { loopId: this.events.loopId, ...fields })
  }

  /** Logs that something failed which the run can do without; an abort is no failure. */
  warnFailed(event: string, error: unknown): void {
    if (!this.signal.aborted) this.warn(event, { ...failureOf(error) })
  }

  /** Logs a warning the first time this run meets it. */
  warnOnce(event: string, message: string): void {
    if (this.#logged.has(message)) return
    this.#logged.add(message)
    this.warn(event, { message })
  }
}
