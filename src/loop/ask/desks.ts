import { copyJson } from '../../base/json/copy-json.ts'
import { checkedAnswer, inputFor, requestFor, shownRequest } from '../../base/questions.ts'
import type { PendingApproval, PendingInput } from '../../contract/run/run-facts.ts'
import type {
  ApprovalDecision,
  ApprovalRef,
  ApprovalRequest,
  InputAnswer,
  InputRef,
  InputRequest,
  QuestionDesk,
} from '../../types/run/question.ts'

/** Where questions wait, in the order they were asked, until somebody answers them or whoever asked withdraws them. */
abstract class Desk<Request, Answer> implements QuestionDesk<Request, Answer> {
  readonly #waiting = new Map<Request, (answer: Answer) => void>()
  readonly isAttended: () => boolean

  constructor(isAttended: () => boolean = () => true) {
    this.isAttended = isAttended
  }

  wait(request: Request, answer: (answer: Answer) => void): () => void {
    // An object of its own: the same request may be asked twice.
    const own = { ...request }
    this.#waiting.set(own, answer)
    return () => void this.#waiting.delete(own)
  }

  protected get waiting(): Request[] {
    return [...this.#waiting.keys()]
  }

  protected tell(request: Request, answer: Answer): void {
    const told = this.#waiting.get(request)
    this.#waiting.delete(request)
    told?.(answer)
  }
}

/**
 * Calls that wait for a person, and the answers. A decision is about one request: its call, the hash of the arguments that were shown, and the
 * event that showed them where that is given. Services repeat the ids of calls, in later turns and in sub-agents.
 *
 * Source: docs/concepts/approval.md
 */
export class Approvals extends Desk<ApprovalRequest, ApprovalDecision> {
  #isClosed = false

  override wait(request: ApprovalRequest, answer: (answer: ApprovalDecision) => void): () => void {
    if (!this.#isClosed) return super.wait(request, answer)
    queueMicrotask(() => answer({ type: 'timeout' }))
    return () => undefined
  }

  /** Nobody answers any more: what waits, and what would, is left to whoever continues the run. */
  close(): void {
    this.#isClosed = true
    for (const request of this.waiting) this.tell(request, { type: 'timeout' })
  }

  /** Requests that wait now, in the order they were made. Copies. */
  pending(): PendingApproval[] {
    return this.waiting.map(({ runId: _run, loopId: _loop, seq: _seq, ...pending }) => copyJson(pending))
  }

  /** Lets the call run that `request` showed. Throws `ConfigError` `unknownCall`, `argumentsChanged`; `invalidOption` without id or hash. */
  approve(request: ApprovalRef): void {
    this.tell(requestFor(this.waiting, shownRequest(request)), { type: 'approved' })
  }

  /** Refuses a call: that of `request`, or the one of that id which waits longest. Throws `ConfigError` `unknownCall`, `argumentsChanged`. */
  deny(request: ApprovalRef | string, reason?: string): void {
    const waiting = requestFor(this.waiting, typeof request === 'string' ? { toolCallId: request } : request)
    this.tell(waiting, reason === undefined ? { type: 'denied' } : { type: 'denied', reason })
  }
}

/** What the calls of a run ask people, and the answers. Source: docs/concepts/approval.md */
export class Inputs extends Desk<InputRequest, InputAnswer> {
  /** Requests that wait now, in the order they were made. Copies. */
  pending(): PendingInput[] {
    return this.waiting.map(({ loopId: _loop, ...pending }) => copyJson(pending))
  }

  /** Answers a request that waits. Throws `ConfigError` `unknownInput` where none does, `invalidOption` for what is no answer. */
  answer(request: InputRef | string, given: InputAnswer): void {
    this.tell(inputFor(this.waiting, request), checkedAnswer(given))
  }
}
