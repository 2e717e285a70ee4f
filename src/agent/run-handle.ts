import { queueAdvice, refuseMore, refuseMoreAnswers } from '../base/argument-checks.ts'
import { logWarning } from '../base/log-warning.ts'
import { checkDenial } from '../base/questions.ts'
import type { JsonValue } from '../contract/json.ts'
import type { AgentMessage, PromptInput } from '../contract/message/message.ts'
import type { AgentEvent, EventOf } from '../contract/run/event.ts'
import type { PendingApproval, PendingClientCall, PendingInput, RunFailure } from '../contract/run/run-facts.ts'
import { Approvals, ClientCalls, Inputs } from '../loop/ask/pending-requests.ts'
import { toMessages } from '../loop/intake.ts'
import type { LoopOptions } from '../loop/loop-config.ts'
import { LoggedRun } from '../stream/logged-run.ts'
import type { Logger } from '../types/logger.ts'
import type { Budget } from '../types/run/budget.ts'
import type { ApprovalRef, ApproveOptions, ClientCallAnswer, InputAnswer, InputRef } from '../types/run/question.ts'
import type { AgentRun, Receipt, RunResult } from '../types/run/run.ts'
import type { RunQueue } from './message-queue.ts'

/** Functions and state that a run gets from its agent. */
export interface RunHandleOptions {
  id: string
  loopId: string
  sessionId: string
  steering: RunQueue
  followUps: RunQueue
  listeners: Iterable<(event: AgentEvent) => void>
  /** Starts the loop. Called once, in a microtask, so that the caller can subscribe first. */
  start: (options: LoopOptions) => Promise<RunResult>
  /** Parses the result's output, if a format is set. Never rejects. */
  read: ((result: RunResult) => Promise<RunResult>) | undefined
  /** Called once, after `agentEnd`. */
  onEnd: () => void
  replayBytes: number | undefined
  logger: Logger | false | undefined
  metadata?: JsonValue
  budget?: Budget
  /** The caller's signal, observed until the run ends. */
  signal?: AbortSignal
}

/**
 * Waits enough microtasks for an event to pass through a reader wrapped in a few generators. Uses no timer, because none may outlive the
 * run.
 */
async function readersHaveSeen(): Promise<void> {
  for (let task = 0; task < 50; task += 1) await undefined
}

/** Response functions by request kind. */
const answersTo = {
  approvalRequested: 'run.approve(event) or run.deny(event)',
  inputRequested: 'run.answer(event, { action })',
  clientCallRequested: 'run.answerCall(event, { output })',
}

/** A run during and after its execution. See {@link AgentRun} for the contract. */
export class RunHandle extends LoggedRun implements AgentRun {
  readonly id: string
  /** May change until `agentStart`, because another process may have used this loop id. */
  loopId: string
  readonly sessionId: string
  readonly #controller = new AbortController()
  readonly #isAttended = (): boolean => this.#isAsked || this.log.isAttended
  readonly #approvals = new Approvals(this.#isAttended)
  readonly #inputs = new Inputs(this.#isAttended)
  readonly #clientCalls = new ClientCalls(this.#isAttended)
  readonly #messages = new Map<string, AgentMessage>()
  /** Running calls and their timeouts in milliseconds (`undefined`: none). */
  readonly #runningTools = new Map<string, number | undefined>()
  readonly #options: RunHandleOptions
  readonly #result: Promise<RunResult>
  #hasEnded = false
  /** Whether the caller awaits the result. A listener alone does not count, because it may show only text. */
  #isWatched = false
  /** Whether the caller has read or responded to pending requests, even without a listener. */
  #isAsked = false

  constructor(options: RunHandleOptions) {
    super(options.logger, options.replayBytes)
    this.id = options.id
    this.loopId = options.loopId
    this.sessionId = options.sessionId
    this.#options = options
    for (const listener of options.listeners) this.subscribe(listener)
    this.#result = options.read === undefined ? this.#run() : this.#run().then(options.read)
  }

  get result(): Promise<RunResult> {
    this.#isWatched = true
    return this.#result
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.abort()
    // Read the field, because awaiting `result` would count as observing it.
    await this.#result
  }

  message(id: string): AgentMessage | undefined {
    return this.#messages.get(id)
  }

  steer(input: PromptInput, ...more: never[]): Receipt {
    refuseMore('steer', more, queueAdvice)
    return this.#options.steering.add(toMessages(input))
  }

  followUp(input: PromptInput, ...more: never[]): Receipt {
    refuseMore('followUp', more, queueAdvice)
    return this.#options.followUps.add(toMessages(input))
  }

  approve(request: ApprovalRef): void
  approve(request: ApprovalRef, options: ApproveOptions): Promise<void>
  approve(request: ApprovalRef, options?: ApproveOptions, ...more: never[]): void | Promise<void> {
    this.#isAsked = true
    return options === undefined ? this.#approvals.approve(request) : this.#approvals.approve(request, options, ...more)
  }

  deny(request: ApprovalRef | string, reason?: string, ...more: never[]): void {
    checkDenial(reason, more)
    this.#isAsked = true
    this.#approvals.deny(request, reason)
  }

  answer(request: InputRef | string, answer: InputAnswer, ...more: never[]): void {
    refuseMoreAnswers('answer', more)
    this.#isAsked = true
    this.#inputs.answer(request, answer)
  }

  pendingInputs(): PendingInput[] {
    this.#isAsked = true
    return this.#inputs.pending()
  }

  /** Longest timeout of the running tools, in milliseconds. `undefined` if no tool is running or a running tool has no timeout. */
  get currentToolTimeoutMs(): number | undefined {
    const timeouts = [...this.#runningTools.values()]
    return timeouts.length === 0 || timeouts.includes(undefined) ? undefined : Math.max(...timeouts.map((ms) => ms ?? 0))
  }

  pendingApprovals(): PendingApproval[] {
    this.#isAsked = true
    return this.#approvals.pending()
  }

  // Async functions, so that errors are rejections, as for remote runs.

  async claimCall(request: ApprovalRef, clientId: string, ...more: never[]): Promise<boolean> {
    refuseMoreAnswers('claimCall', more)
    this.#isAsked = true
    return this.#clientCalls.claim(request, clientId)
  }

  async answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string, ...more: never[]): Promise<void> {
    refuseMoreAnswers('answerCall', more)
    this.#isAsked = true
    return this.#clientCalls.answer(request, answer, clientId)
  }

  pendingClientCalls(): PendingClientCall[] {
    this.#isAsked = true
    return this.#clientCalls.pending()
  }

  stopAsking(): void {
    this.#approvals.close()
    this.#clientCalls.close()
  }

  abort(reason?: unknown): void {
    // Also possible after `agentEnd`, while a hook is still running.
    this.#controller.abort(reason)
    this.#close()
  }

  async #run(): Promise<RunResult> {
    const { start, signal, metadata, budget } = this.#options
    const follow = () => this.abort(signal?.reason)
    if (signal?.aborted) follow()
    else signal?.addEventListener('abort', follow, { once: true })
    await undefined
    try {
      const result = await start({
        runId: this.id,
        signal: this.#controller.signal,
        approvals: this.#approvals,
        inputs: this.#inputs,
        clientCalls: this.#clientCalls,
        runningTools: this.#runningTools,
        emit: (event) => this.#accept(event),
        ...(metadata !== undefined && { metadata }),
        ...(budget && { budget }),
      })
      if (result.error !== undefined && !this.#isWatched) void this.#warnOfFailure(result.error)
      return result
    } finally {
      signal?.removeEventListener('abort', follow)
      // The loop rejected before its first event, so no events follow.
      if (!this.#hasEnded) this.#end()
      this.log.close()
    }
  }

  /** Warns of a failure that no caller observes. A reader of the last event gets time to request the result first. Never rejects. */
  async #warnOfFailure({ code, message }: RunFailure): Promise<void> {
    await readersHaveSeen()
    if (this.#isWatched) return
    logWarning(this.#options.logger, 'runFailed', {
      ...{ runId: this.id, loopId: this.loopId, code, message },
      hint: 'Nothing read the outcome of the run. Await run.result or run.text().',
    })
  }

  /** Warns of a request that a reader passed without a decision. Never rejects. */
  async #warnOfRequest({ type, seq, toolName }: EventOf<keyof typeof answersTo>): Promise<void> {
    await readersHaveSeen()
    const waits = [this.#approvals, this.#inputs, this.#clientCalls].some(({ hasPending }) => hasPending)
    if (this.#isAsked || !waits || !this.log.isPassed(seq)) return
    logWarning(this.#options.logger, 'requestUnanswered', {
      ...{ runId: this.id, loopId: this.loopId, toolName },
      message: `The run is paused: ${type} of ${JSON.stringify(toolName)} is still pending.`,
      hint: `Call ${answersTo[type]} when you read it.`,
    })
  }

  #accept(event: AgentEvent): void {
    if (event.type === 'messageStart' || event.type === 'messageEnd') this.#messages.set(event.messageId, event.message)
    // Become idle before dispatching the last event, because an `agentEnd` listener may send another prompt.
    if (event.type === 'agentEnd') this.#end()
    this.append(event)
    if (event.type === 'approvalRequested' || event.type === 'inputRequested' || event.type === 'clientCallRequested')
      void this.#warnOfRequest(event)
  }

  #end(): void {
    this.#hasEnded = true
    this.#close()
    this.#options.onEnd()
  }

  #close(): void {
    this.#options.steering.close()
    this.#options.followUps.close()
  }
}
