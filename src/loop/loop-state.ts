import { AbortScope, catchLate, settleWithin } from '../base/abort.ts'
import { ExecutionBudget } from '../context/execution-budget.ts'
import { errorText, JournalError } from '../contract/errors.ts'
import { type AgentMessage, type AssistantMessage, now } from '../contract/message/message.ts'
import { combineUsage, emptyUsage, hasRates, type Usage } from '../contract/model/usage.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { RunFailure } from '../contract/run/run-facts.ts'
import type { JournalEntry } from '../contract/session/journal-entry.ts'
import type { MediaWithBytes, StreamRateLimits } from '../types/model/provider.ts'
import type { LoopBackground } from './background/loop-background.ts'
import { Refusals } from './calls/refusals.ts'
import { ContextWindow } from './context-window.ts'
import { DataParts } from './data-parts.ts'
import { EventEmitter } from './event-emitter.ts'
import { HookRunner } from './hooks.ts'
import { InputGate } from './intake.ts'
import type { AgentContext, LoopConfig, LoopOptions } from './loop-config.ts'
import { mediaOf } from './model/resolve-media.ts'
import type { JoinedPlugins } from './plugins/plugin-port.ts'
import { RunLog } from './run-log.ts'
import { type TurnSetup, TurnSource } from './turn/turn-setup.ts'
import { Watches } from './watches.ts'

/** Milliseconds that an aborted run waits for its journal. */
const journalGraceMs = 1000

/** State of one running loop, shared by all parts of the loop. */
export class LoopState {
  readonly context: AgentContext
  readonly config: LoopConfig
  readonly options: LoopOptions
  readonly agentId: string
  readonly events: EventEmitter
  /** The run's log. */
  readonly log: RunLog
  /** Aborts when the caller stops the run or the run fails. */
  readonly stop: AbortScope
  readonly budget: ExecutionBudget
  readonly hooks: HookRunner
  readonly refusals: Refusals
  readonly inputs: InputGate
  readonly data: DataParts
  /** The run's plugins. `undefined` without any, and before the run starts. */
  plugins: JoinedPlugins | undefined
  /** This loop's watches. `undefined` without any. */
  readonly watches: Watches | undefined
  /** Background tasks. `undefined` until a call starts one. See `loadBackground`. */
  background: LoopBackground | undefined
  readonly contextWindow: ContextWindow
  /** Resolves media that the provider does not fetch, and media in the session store. */
  readonly media: MediaWithBytes | undefined
  /** Messages that this loop added to the history. */
  readonly added: AgentMessage[] = []
  turnIndex = 0
  readonly turns: TurnSource
  /** The current turn's setup. Each turn has a new object. */
  turn: TurnSetup
  /** Rejected responses: number of repair requests, number of refusals by hooks or plugins, and the latest refusal. */
  readonly refused = { repairs: 0, refusals: 0, by: '' }
  usage: Usage = emptyUsage()
  /** First failure other than a model failure: an error from the journal, a hook or the loop itself. */
  failure: RunFailure | undefined
  /** Latest rate limits by model. */
  readonly #rateLimits = new Map<string, string>()
  readonly #emitFailed = (error: unknown) => this.log.warnOnce('emitFailed', errorText(error))

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
    this.turns = new TurnSource(config, context)
    this.log = new RunLog(this)
    // Initialize the turn before the watches, because a failing watch's error must not contain this model's keys.
    this.turn = this.turns.turn()
    this.stop = new AbortScope(options.signal)
    this.budget = new ExecutionBudget(config.limits, options.budget)
    this.refusals = new Refusals(config.limits)
    this.events = new EventEmitter(ids, (event) => this.#deliver(event))
    this.hooks = new HookRunner(this, config.hooks)
    this.inputs = new InputGate(this, config)
    this.data = new DataParts(this)
    this.watches = Watches.begin(
      config.observers,
      () => ({ ...ids, ...(options.agentName !== undefined && { agentName: options.agentName }), model: config.model.config }),
      (message) => this.log.warn('watchFailed', { message }),
    )
    this.media = mediaOf(config, ids.sessionId, this.stop)
    this.contextWindow = new ContextWindow(config, context.systemPrompt)
  }

  /**
   * Ends the run with an error, unless it has already failed. Starts no further side effects and aborts running tools. Returns the first
   * failure.
   */
  fail(error: unknown): RunFailure {
    if (this.failure !== undefined) return this.failure
    this.failure = this.log.failureOf(error)
    this.stop.abort(error)
    return this.failure
  }

  /** Appends a message to the history. Tool results already have a number, because they were recorded before. */
  append(message: AgentMessage): void {
    if (message.role !== 'toolResult') this.contextWindow.view?.number(message)
    this.context.messages.push(message)
    this.added.push(message)
  }

  /** Removes a message that was not recorded. */
  takeBack(message: AgentMessage): void {
    for (const list of [this.context.messages, this.added]) {
      const at = list.lastIndexOf(message)
      if (at >= 0) list.splice(at, 1)
    }
  }

  /** Emits rate limits if they have changed. Ignores reset times, which always differ. */
  showRateLimits({ of, limits }: StreamRateLimits): void {
    const name = `${of.provider}/${of.model}`
    const serialized = JSON.stringify(limits, (key, value) => (key === 'resetMs' ? undefined : value))
    if (this.#rateLimits.get(name) === serialized) return
    this.#rateLimits.set(name, serialized)
    this.events.emit({ type: 'rateLimits', turnIndex: this.turnIndex, of, limits })
  }

  /** Adds usage to the run and charges the budget. `message` is the response that reports the usage. */
  addUsage(usage: Usage, message: AssistantMessage): void {
    const { model } = this.turn
    const answered = model.answeredBy?.(message) ?? model.config
    // Prices are checked before a model call, except for the models that a composed model selects.
    if (answered !== model.config && !hasRates(answered) && hasRates(model.config) && usage.reportedCost === undefined)
      this.budget.uncountable?.(`${answered.id} has no prices`)
    // Charge the budget first, because `charge` throws for invalid figures.
    this.budget.charge(usage, answered.cost)
    this.usage = combineUsage(this.usage, usage)
  }

  /**
   * Makes `entry` durable. Rejects with `JournalError` if the journal rejects it, or does not respond within a second of an abort.
   * `undefined` without a journal, or after a rejection, when the journal gets no more entries.
   */
  record(entry: JournalEntry): Promise<void> | undefined {
    const { journal } = this.config
    return journal === undefined || this.failure?.code === 'journal' ? undefined : this.#write(journal, entry)
  }

  #write(journal: NonNullable<LoopConfig['journal']>, entry: JournalEntry): Promise<void> {
    const { sessionId, loopId, runId } = this.events
    const record = { entry, agentId: this.agentId, sessionId, loopId, runId, turnIndex: this.turnIndex, at: now() }
    // An async function turns a synchronous throw into a rejection.
    const appended = (async () => journal.append(record, this.context))()
    return settleWithin(appended, this.options.signal, journalGraceMs).catch((error) => {
      throw new JournalError(error)
    })
  }

  #deliver(event: AgentEvent): void {
    if (this.watches !== undefined) this.watches.event(event)
    try {
      this.config.journal?.event?.(event)
      // The sink may be async despite its type, for example if it writes events to a connection.
      catchLate(this.options.emit(event), this.#emitFailed)
    } catch (error) {
      this.#emitFailed(error)
    }
  }
}
