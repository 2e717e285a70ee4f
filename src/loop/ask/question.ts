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

/** A kind of question: what its handler holds, and its two events. */
export interface Question<Request, Answer> {
  request: Request
  /** The answer where nobody gives one. */
  none: Answer
  /** Emits the event that shows it. */
  show(): void
  /** Emits the event that says how it ended; `reason` says why nobody answered. */
  resolve(answer: Answer, reason: string | undefined): void
}

/** On whose behalf somebody is asked, and how long. */
export interface Asker {
  /** When it aborts, nobody is asked any more. */
  stop: AbortScope
  whyStopped(): string
  /** Of the one who asks alone; as `stop`. */
  signal?: AbortSignal | undefined
  /** Milliseconds until nobody is expected to answer any more. Default: for ever. */
  timeoutMs?: number | undefined
  /** Each stops a clock that stands still meanwhile, and returns how to start it again. */
  pauses?: readonly (() => () => void)[]
}

/**
 * Asks somebody outside of the run, once.
 *
 * **Contract**
 * - Its handler holds the question before it is shown, so that whoever sees it may answer at once. Each that is shown is resolved once.
 * - It ends with an answer, when its time is over, when nobody could answer, when whoever asks is stopped, or when it is withdrawn. From then on nobody can answer it: what was
 *   stopped cannot be approved. No timer, clock or waiter is left.
 * - `told` is called with the answer, after the event that resolves it; not after `leave`.
 */
export class AskedQuestion<Request, Answer> {
  readonly #question: Question<Request, Answer>
  readonly #told: (answer: Answer) => void
  /** What is to be done when it is over. */
  readonly #atEnd: (() => void)[]
  #outcome: { answer: Answer; reason: string | undefined } | undefined
  #isShown = false
  #hasLeft = false

  constructor(question: Question<Request, Answer>, told: (answer: Answer) => void, ended: () => void = () => undefined) {
    this.#question = question
    this.#told = told
    this.#atEnd = [ended]
  }

  /** Hands the question to `handler`. */
  begin(handler: RequestHandler<Request, Answer>, { stop, whyStopped, signal, timeoutMs, pauses = [] }: Asker): void {
    // Before anybody hears of it.
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

  /** Nobody is asked any more; whoever asked is told that nobody answered. */
  withdraw(reason: string): void {
    this.#end(this.#question.none, reason)
  }

  /** Whoever asked is gone. */
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
    // Decided while it is being shown: told when it has been.
    if (this.#isShown) this.#tell(this.#outcome)
  }

  #tell({ answer, reason }: { answer: Answer; reason: string | undefined }): void {
    this.#question.resolve(answer, reason)
    if (!this.#hasLeft) this.#told(answer)
  }
}

/** Whether a call may run, as a question of the loop whose events these are. */
export function approvalQuestion(events: EventEmitter, pending: PendingApproval): Question<ApprovalRequest, ApprovalDecision> {
  const { toolCallId, toolName, subAgent } = pending
  const { runId, loopId, nextSeq: seq } = events
  return {
    request: { ...pending, runId, loopId: subAgent?.loopId ?? loopId, seq },
    none: { type: 'timeout' },
    show: () => events.emit({ type: 'approvalRequested', ...pending }),
    resolve: (decision, whyNobody = 'nobody answered in time') => {
      const approved = decision.type === 'approved'
      const reason = decision.type === 'timeout' ? whyNobody : approved ? undefined : decision.reason
      const who = { toolCallId, toolName, approved, ...(subAgent !== undefined && { subAgent }) }
      events.emit({ type: 'approvalResolved', ...who, ...(reason !== undefined && { reason }) })
    },
  }
}

/** What a running call wants to know, as a question of the loop whose events these are. */
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

/** A call that a page is to run, as a question of the loop whose events these are. */
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
    resolve: (outcome, whyNobody = 'no page answered in time') => {
      if (outcome.type === 'answered') {
        events.emit({ type: 'clientCallResolved', ...who, outcome: outcome.result.isError === true ? 'failed' : 'answered' })
      } else events.emit({ type: 'clientCallResolved', ...who, outcome: 'unanswered', reason: whyNobody })
    },
  }
}
