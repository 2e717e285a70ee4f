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
import { EventEmitter } from './event-emitter.ts'
import { HookRunner } from './hooks.ts'
import { InputGate } from './intake.ts'
import type { AgentContext, LoopConfig, LoopOptions } from './loop-config.ts'
import { mediaOf } from './model/resolve-media.ts'
import type { JoinedPlugins } from './plugins/plugin-port.ts'
import { RunLog } from './run-log.ts'
import { type TurnSetup, TurnSource } from './turn/turn-setup.ts'
import { Watches } from './watches.ts'

/** How long an aborted run still waits for its journal, in ms. */
const journalGraceMs = 1000

/** The state of one loop while it runs: what it works on, what it has used, and how it reports. */
export class LoopState {
  readonly context: AgentContext
  readonly config: LoopConfig
  readonly options: LoopOptions
  readonly agentId: string
  readonly events: EventEmitter
  /** What the run says of itself. */
  readonly log: RunLog
  /** Stops when the caller stops the run, or when it has failed. */
  readonly stop: AbortScope
  readonly budget: ExecutionBudget
  readonly hooks: HookRunner
  readonly refusals: Refusals
  readonly inputs: InputGate
  /** What joins the run; `undefined` where nothing does, and before it has begun. */
  plugins: JoinedPlugins | undefined
  /** Whoever watches this loop from within; `undefined` where nobody does. */
  readonly watches: Watches | undefined
  /** What goes on beside the run; `undefined` while no call has begun anything. See `loadBackground`. */
  background: LoopBackground | undefined
  readonly contextWindow: ContextWindow
  /** Fetches media that the service does not fetch itself, and reads those that the session keeps. */
  readonly media: MediaWithBytes | undefined
  /** What this loop has added to the history. */
  readonly added: AgentMessage[] = []
  turnIndex = 0
  readonly turns: TurnSource
  /** What the turn works with; made anew for each. */
  turn: TurnSetup
  /** Answers that were not accepted: how many did not fit and were asked for again, how many a hook or a plugin has refused, and who the last. */
  readonly refused = { repairs: 0, refusals: 0, by: '' }
  usage: Usage = emptyUsage()
  /** Set once, by the first thing that stops the run from outside the model: a journal that refuses, a hook, a defect. */
  failure: RunFailure | undefined
  /** What each model's service said last of its rate limits. */
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
    // Before the watches: one that fails at once is told without the keys of this model.
    this.turn = this.turns.turn()
    this.stop = new AbortScope(options.signal)
    this.budget = new ExecutionBudget(config.limits, options.budget)
    this.refusals = new Refusals(config.limits)
    this.events = new EventEmitter(ids, (event) => this.#deliver(event))
    this.hooks = new HookRunner(this, config.hooks)
    this.inputs = new InputGate(this, config)
    this.watches = Watches.begin(
      config.observers,
      () => ({ ...ids, ...(options.agentName !== undefined && { agentName: options.agentName }), model: config.model.config }),
      (message) => this.log.warn('watchFailed', { message }),
    )
    this.media = mediaOf(config, ids.sessionId, this.stop)
    this.contextWindow = new ContextWindow(config, context.systemPrompt)
  }

  /** Ends the run with an error, unless one has: no further side effect begins, running tools are signalled. Returns what ended it. */
  fail(error: unknown): RunFailure {
    if (this.failure !== undefined) return this.failure
    this.failure = this.log.failureOf(error)
    this.stop.abort(error)
    return this.failure
  }

  /** Puts a message into the history. Tool results have their number already: they were made durable before. */
  append(message: AgentMessage): void {
    if (message.role !== 'toolResult') this.contextWindow.view?.number(message)
    this.context.messages.push(message)
    this.added.push(message)
  }

  /** Takes out again what was not recorded. */
  takeBack(message: AgentMessage): void {
    for (const list of [this.context.messages, this.added]) {
      const at = list.lastIndexOf(message)
      if (at >= 0) list.splice(at, 1)
    }
  }

  /** Reports what a service said of its limits, unless it has said so before. How long they last differs each time, and says nothing new. */
  showRateLimits({ of, limits }: StreamRateLimits): void {
    const name = `${of.provider}/${of.model}`
    const said = JSON.stringify(limits, (key, value) => (key === 'resetMs' ? undefined : value))
    if (this.#rateLimits.get(name) === said) return
    this.#rateLimits.set(name, said)
    this.events.emit({ type: 'rateLimits', turnIndex: this.turnIndex, of, limits })
  }

  /** `message` is the answer that used it. */
  addUsage(usage: Usage, message: AssistantMessage): void {
    const { model } = this.turn
    const answered = model.answeredBy?.(message) ?? model.config
    // Whether a model has prices is asked before it is called, but for one that another chose.
    if (answered !== model.config && !hasRates(answered) && hasRates(model.config) && usage.reportedCost === undefined)
      this.budget.uncountable?.(`${answered.id} has no prices`)
    // First: it refuses figures that are none.
    this.budget.charge(usage, answered.cost)
    this.usage = combineUsage(this.usage, usage)
  }

  /**
   * Makes `entry` durable. Rejects with `JournalError` when the journal refuses, or does not answer within a second of an abort. `undefined`
   * where there is no journal, or one that has refused something: then it is asked for nothing more.
   */
  record(entry: JournalEntry): Promise<void> | undefined {
    const { journal } = this.config
    return journal === undefined || this.failure?.code === 'journal' ? undefined : this.#write(journal, entry)
  }

  #write(journal: NonNullable<LoopConfig['journal']>, entry: JournalEntry): Promise<void> {
    const { sessionId, loopId, runId } = this.events
    const record = { entry, agentId: this.agentId, sessionId, loopId, runId, turnIndex: this.turnIndex, at: now() }
    // An async function, so that a journal that throws at once is a rejection too.
    const appended = (async () => journal.append(record, this.context))()
    return settleWithin(appended, this.options.signal, journalGraceMs).catch((error) => {
      throw new JournalError(error)
    })
  }

  #deliver(event: AgentEvent): void {
    if (this.watches !== undefined) this.watches.event(event)
    try {
      this.config.journal?.event?.(event)
      // May be async all the same: one that writes events to a connection, say.
      catchLate(this.options.emit(event), this.#emitFailed)
    } catch (error) {
      this.#emitFailed(error)
    }
  }
}
