import { errorText, PhiError } from '../types/errors.ts'
import type { AgentEvent, PendingApproval, RunFailure } from '../types/event.ts'
import type { JournalEntry } from '../types/journal.ts'
import type { JsonObject, JsonValue } from '../types/json.ts'
import { logWarning } from '../types/logger.ts'
import { type AgentMessage, now } from '../types/message.ts'
import { combineUsage, emptyUsage, type Usage } from '../types/usage.ts'
import { type LinkedAbort, linkAbort, settleWithin } from './abort.ts'
import type { Approvals } from './approvals.ts'
import { EventEmitter } from './event-emitter.ts'
import type { AgentContext, LoopConfig, MessageSupplier } from './loop-config.ts'

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
  /** Who answers approvals. Without it, a call that needs one ends the run `paused`. */
  approvals?: Approvals
  /** Filled with the calls that run now and their timeouts in ms (`undefined`: unbounded). */
  runningTools?: Map<string, number | undefined>
}

/** How long an aborted run still waits for its journal, in ms. */
const journalGraceMs = 1000

/** The journal refused: nothing may happen that it would have to know. */
export class JournalError extends PhiError {
  constructor(cause: unknown) {
    super('journal', `The journal could not store the conversation: ${errorText(cause)}. The run stopped before its next step.`, { cause })
    this.name = 'JournalError'
  }
}

/** What failed, as data. */
export function failureOf(error: unknown): RunFailure {
  return { code: PhiError.isInstance(error) ? error.code : 'other', message: errorText(error) }
}

/** The state of one loop while it runs: what it works on, what it has used, and how it reports. */
export class LoopRun {
  readonly context: AgentContext
  readonly config: LoopConfig
  readonly options: LoopOptions
  readonly agentId: string
  readonly events: EventEmitter
  readonly newMessages: AgentMessage[] = []
  readonly pausedCalls: PendingApproval[] = []
  turnIndex = 0
  usage: Usage = emptyUsage()
  /** Set once, by the first thing that stops the run from outside the model: a journal that refuses, a defect. */
  failure: RunFailure | undefined
  /** Why the last model call failed. */
  modelFailure: RunFailure | undefined
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

  /** Puts a message into the history. */
  append(message: AgentMessage): void {
    this.context.messages.push(message)
    this.newMessages.push(message)
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
    return supplier === undefined || this.signal.aborted ? [] : supplier.take()
  }

  addUsage(usage: Usage): void {
    this.usage = combineUsage(this.usage, usage)
  }

  /**
   * Makes `entry` durable. Throws `JournalError` when the journal refuses, or does not answer within a second of an abort. Returns at once
   * when there is no journal, or when the run has failed: then it is asked for nothing more.
   */
  async record(entry: JournalEntry): Promise<void> {
    const { journal } = this.config
    if (journal === undefined || this.failure !== undefined) return
    const { sessionId, loopId, runId } = this.events
    const record = { entry, agentId: this.agentId, sessionId, loopId, runId, turnIndex: this.turnIndex, at: now() }
    try {
      await settleWithin(journal.append(record), this.options.signal, journalGraceMs)
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

  /** Logs a warning the first time this run meets it. */
  warnOnce(event: string, message: string): void {
    if (this.#logged.has(message)) return
    this.#logged.add(message)
    this.warn(event, { message })
  }
}
