import { type AbortScope, onAbort } from '../../base/abort.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { startTimer } from '../../base/timer.ts'
import type { PendingApproval, PendingClientCall, PendingInput } from '../../contract/run/run-facts.ts'
import type {
  ApprovalDecision,
  ApprovalRequest,
  ClientCallOutcome,
  ClientCallRequest,
  ClientCallTerms,
  InputAnswer,
  InputRequest,
  RequestHandler,
} from '../../types/run/question.ts'
import type { EventEmitter } from '../event-emitter.ts'

/** A kind of request: the value for its handler, and its two events. */
export interface Question<Request, Answer> {
  request: Request
  /** The response if there is none. */
  none: Answer
  /** Emits the event that shows the request. */
  show(): void
  /** Emits the event that ends the request; `reason` says why there was no response. */
  resolve(answer: Answer, reason: string | undefined): void
}

/** The requester, with timeouts and abort. */
export interface Asker {
  /** Withdraws the request when it aborts. */
  stop: AbortScope
  whyStopped(): string
  /** Abort signal of the requester alone; like `stop`. */
  signal?: AbortSignal | undefined
  /** Milliseconds until the request times out. Default: never. */
  timeoutMs?: number | undefined
  /** Each pauses a timeout and returns a function that resumes it. */
  pauses?: readonly (() => () => void)[]
}

/**
 * One request to a user or client.
 *
 * **Contract**
 * - The handler gets the request before it is shown, so a client may respond at once. Each shown request is resolved exactly once.
 * - It ends with a response, on its timeout, if no client can respond, if the requester is stopped, or if it is withdrawn. It cannot be
 *   responded to afterwards. No timer or listener is left.
 * - `settle` is called with the response after the resolving event, but not after `leave`.
 */
export class AskedQuestion<Request, Answer> {
  readonly #question: Question<Request, Answer>
  readonly #settle: (answer: Answer) => void
  /** Cleanup at the end of the request. */
  readonly #atEnd: (() => void)[]
  #outcome: { answer: Answer; reason: string | undefined } | undefined
  #isShown = false
  #hasLeft = false

  constructor(question: Question<Request, Answer>, settle: (answer: Answer) => void, ended: () => void = () => undefined) {
    this.#question = question
    this.#settle = settle
    this.#atEnd = [ended]
  }

  /** Passes the request to `handler`. */
  begin(handler: RequestHandler<Request, Answer>, { stop, whyStopped, signal, timeoutMs, pauses = [] }: Asker): void {
    // Before the request is visible.
    for (const pause of pauses) this.#until(pause())
    this.#until(handler.wait(this.#question.request, (answer) => this.#end(answer)))
    if (timeoutMs !== undefined) this.#until(startTimer(timeoutMs, () => this.withdraw('nobody answered in time')))
    this.#until(stop.wait(() => this.withdraw(whyStopped())))
    if (signal !== undefined) this.#until(onAbort(signal, () => this.withdraw('it is no longer asked')))
    this.#question.show()
    if (timeoutMs === undefined && handler.isAttended?.() === false) this.withdraw('nobody listens to the run, so nobody can answer')
    this.#isShown = true
    if (this.#outcome !== undefined) this.#tell(this.#outcome)
  }

  /** Withdraws the request; the requester gets the response `none`. */
  withdraw(reason: string): void {
    this.#end(this.#question.none, reason)
  }

  /** Ends the request without telling the requester, which no longer waits. */
  leave(reason: string): void {
    this.#hasLeft = true
    this.withdraw(reason)
  }

  #until(act: () => void): void {
    if (this.#outcome === undefined) this.#atEnd.push(act)
    else act()
  }

  #end(answer: Answer, reason?: string): void {
    if (this.#outcome !== undefined) return
    this.#outcome = { answer, reason }
    for (const act of this.#atEnd) act()
    // Decided while it is being shown: reported afterwards.
    if (this.#isShown) this.#tell(this.#outcome)
  }

  #tell({ answer, reason }: { answer: Answer; reason: string | undefined }): void {
    this.#question.resolve(answer, reason)
    if (!this.#hasLeft) this.#settle(answer)
  }
}

/** Creates the approval request of a tool call for a loop's events. */
export function approvalQuestion(events: EventEmitter, pending: PendingApproval): Question<ApprovalRequest, ApprovalDecision> {
  const { toolCallId, toolName, subAgent } = pending
  const { runId, loopId, nextSeq: seq } = events
  return {
    request: { ...pending, runId, loopId: subAgent?.loopId ?? loopId, seq },
    none: { type: 'timeout' },
    show: () => events.emit({ type: 'approvalRequested', ...pending }),
    resolve: (decision, timeoutReason = 'nobody answered in time') => {
      const approved = decision.type === 'approved'
      const reason = decision.type === 'timeout' ? timeoutReason : approved ? undefined : decision.reason
      const who = { toolCallId, toolName, approved, ...(subAgent !== undefined && { subAgent }) }
      events.emit({ type: 'approvalResolved', ...who, ...(reason !== undefined && { reason }) })
    },
  }
}

/** Creates the user input request of a running call for a loop's events. */
export function inputQuestion(events: EventEmitter, pending: PendingInput): Question<InputRequest, InputAnswer> {
  const { inputId, toolCallId, toolName, subAgent } = pending
  const who = { inputId, toolCallId, toolName, ...(subAgent !== undefined && { subAgent }) }
  return {
    request: { ...pending, loopId: subAgent?.loopId ?? events.loopId },
    none: { action: 'cancel' },
    show: () => events.emit({ type: 'inputRequested', ...copyJson(pending) }),
    resolve: ({ action }, reason) => events.emit({ type: 'inputResolved', ...who, action, ...(reason !== undefined && { reason }) }),
  }
}

/** Creates the request of a client tool call for a loop's events. */
export function clientCallQuestion(
  events: EventEmitter,
  pending: PendingClientCall,
  terms: ClientCallTerms,
): Question<ClientCallRequest, ClientCallOutcome> {
  const { toolCallId, toolName, subAgent } = pending
  const { runId, loopId, nextSeq: seq } = events
  const who = { toolCallId, toolName, ...(subAgent !== undefined && { subAgent }) }
  return {
    request: { ...pending, runId, loopId: subAgent?.loopId ?? loopId, seq, ...terms },
    none: { type: 'unanswered' },
    show: () => events.emit({ type: 'clientCallRequested', ...copyJson(pending) }),
    resolve: (outcome, timeoutReason = 'no page answered in time') => {
      if (outcome.type === 'answered') {
        events.emit({ type: 'clientCallResolved', ...who, outcome: outcome.result.isError === true ? 'failed' : 'answered' })
      } else events.emit({ type: 'clientCallResolved', ...who, outcome: 'unanswered', reason: timeoutReason })
    },
  }
}
