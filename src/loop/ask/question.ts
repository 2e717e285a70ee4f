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

/** A request: the value for its handler, and the events that show and resolve it. */
export interface Question<Request, Answer> {
  request: Request
  /** Response to use if no client responds. */
  none: Answer
  /** Emits the event that shows the request. */
  show(): void
  /** Emits the event that ends the request. `reason` says why there was no response. */
  resolve(answer: Answer, reason: string | undefined): void
}

/** The requester: abort signals and timeouts. */
export interface Asker {
  /** Abort scope that withdraws the request. */
  stop: AbortScope
  whyStopped(): string
  /** Additional abort signal of this requester, which also withdraws the request. */
  signal?: AbortSignal | undefined
  /** Milliseconds until the request times out. Default: never. */
  timeoutMs?: number | undefined
  /** Functions that each pause a timeout and return a function that resumes it. */
  pauses?: readonly (() => () => void)[]
}

/**
 * A pending request to a user or client.
 *
 * **Contract**
 * - The handler receives the request before the event is emitted, so that a client can respond immediately. Resolves each shown request
 *   exactly once.
 * - The request ends on a response, a timeout, a withdrawal, a stopped requester, or if no client can respond. Then ignores later
 *   responses, and removes all timers and listeners.
 * - Calls `settle` with the response after the resolving event, unless `leave` was called.
 */
export class AskedQuestion<Request, Answer> {
  readonly #question: Question<Request, Answer>
  readonly #settle: (answer: Answer) => void
  /** Cleanup functions to run when the request ends. */
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
    // Register all timers and listeners before the event is emitted, because a client may respond immediately.
    for (const pause of pauses) this.#until(pause())
    this.#until(handler.wait(this.#question.request, (answer) => this.#end(answer)))
    if (timeoutMs !== undefined) this.#until(startTimer(timeoutMs, () => this.withdraw('there was no response before the timeout')))
    this.#until(stop.wait(() => this.withdraw(whyStopped())))
    if (signal !== undefined) this.#until(onAbort(signal, () => this.withdraw('the request was cancelled')))
    this.#question.show()
    if (timeoutMs === undefined && handler.isAttended?.() === false) this.withdraw('no listener can respond to the request')
    this.#isShown = true
    if (this.#outcome !== undefined) this.#tell(this.#outcome)
  }

  /** Withdraws the request. The requester gets the response `none`. */
  withdraw(reason: string): void {
    this.#end(this.#question.none, reason)
  }

  /** Ends the request without calling `settle`, because the requester no longer waits. */
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
    // If the client responds while the request event is emitted, report the response afterwards.
    if (this.#isShown) this.#tell(this.#outcome)
  }

  #tell({ answer, reason }: { answer: Answer; reason: string | undefined }): void {
    this.#question.resolve(answer, reason)
    if (!this.#hasLeft) this.#settle(answer)
  }
}

/** Creates the approval request of a tool call for a loop's events. */
export function approvalQuestion(
  events: EventEmitter,
  pending: PendingApproval,
  terms: Pick<ApprovalRequest, 'checkEdit'> | undefined,
): Question<ApprovalRequest, ApprovalDecision> {
  const { toolCallId, toolName, subAgent } = pending
  const { runId, loopId, nextSeq: seq } = events
  return {
    request: { ...pending, runId, loopId: subAgent?.loopId ?? loopId, seq, ...terms },
    none: { type: 'timeout' },
    show: () => events.emit({ type: 'approvalRequested', ...pending }),
    resolve: (decision, timeoutReason = 'there was no response before the timeout') => {
      const { type: answer, ...how } = decision.type === 'timeout' ? { ...decision, reason: timeoutReason } : copyJson(decision)
      const who = { toolCallId, toolName, approved: answer === 'approved', ...(subAgent !== undefined && { subAgent }) }
      events.emit({ type: 'approvalResolved', ...who, ...how })
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
    resolve: (outcome, timeoutReason = 'no browser client responded before the timeout') => {
      if (outcome.type === 'answered') {
        events.emit({ type: 'clientCallResolved', ...who, outcome: outcome.result.isError === true ? 'failed' : 'answered' })
      } else events.emit({ type: 'clientCallResolved', ...who, outcome: 'unanswered', reason: timeoutReason })
    },
  }
}
