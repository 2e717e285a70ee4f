import { sha256 } from '../../base/hash.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { checkedAnswer, inputFor, requestFor, shownRequest } from '../../base/questions.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { PendingApproval, PendingClientCall, PendingInput } from '../../contract/run/run-facts.ts'
import type {
  ApprovalDecision,
  ApprovalRef,
  ApprovalRequest,
  ClientCallAnswer,
  ClientCallOutcome,
  ClientCallRequest,
  InputAnswer,
  InputRef,
  InputRequest,
  RequestHandler,
} from '../../types/run/question.ts'
import { answeredResult } from './client-answer.ts'

/** Where questions wait, in the order they were asked, until somebody answers them or whoever asked withdraws them. */
abstract class PendingRequests<Request, Answer> implements RequestHandler<Request, Answer> {
  readonly #waiting = new Map<Request, (answer: Answer) => void>()
  readonly isAttended: () => boolean
  /** What whoever asks is told once nobody answers any more. */
  #closed: { answer: Answer } | undefined

  constructor(isAttended: () => boolean = () => true) {
    this.isAttended = isAttended
  }

  wait(request: Request, answer: (answer: Answer) => void): () => void {
    if (this.#closed !== undefined) {
      const { answer: last } = this.#closed
      queueMicrotask(() => answer(last))
      return () => undefined
    }
    // An object of its own: the same request may be asked twice.
    const own = { ...request }
    this.#waiting.set(own, answer)
    this.begun(own)
    return () => void this.#waiting.delete(own)
  }

  /** A request waits from now on. */
  protected begun(_request: Request): void {
    // Only client calls have something to note.
  }

  /** Whether a request waits now. */
  get hasPending(): boolean {
    return this.#waiting.size > 0
  }

  protected get waiting(): Request[] {
    return [...this.#waiting.keys()]
  }

  /** Nobody answers any more: what waits, and what would, is told `answer`. */
  protected closeWith(answer: Answer): void {
    this.#closed = { answer }
    for (const request of this.waiting) this.tell(request, answer)
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
export class Approvals extends PendingRequests<ApprovalRequest, ApprovalDecision> {
  /** Nobody answers any more: what waits, and what would, is asked again when the run is continued. */
  close(): void {
    this.closeWith({ type: 'timeout' })
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
export class Inputs extends PendingRequests<InputRequest, InputAnswer> {
  /** Requests that wait now, in the order they were made. Copies. */
  pending(): PendingInput[] {
    return this.waiting.map(({ loopId: _loop, ...pending }) => copyJson(pending))
  }

  /** Answers a request that waits. Throws `ConfigError` `unknownInput` where none does, `invalidOption` for what is no answer. */
  answer(request: InputRef | string, given: InputAnswer): void {
    this.tell(inputFor(this.waiting, request), checkedAnswer(given))
  }
}

/** Who runs a call, by the SHA-256 of its id, and until when nobody else may. Epoch ms. */
interface Claim {
  holder: string
  until: number
}

/** How long a claim holds that is not made again. */
const claimMs = 30_000

/**
 * Calls that pages run, and what came of them. A result is about one request: its call, and the hash of the arguments that were shown. Where a page has
 * claimed a call, no other page's result counts as long as that holds.
 *
 * Source: docs/concepts/tools.md
 */
export class ClientCalls extends PendingRequests<ClientCallRequest, ClientCallOutcome> {
  readonly #claims = new WeakMap<ClientCallRequest, Claim>()

  /** No page is asked any more: what waits, and what would, is asked again when the run is continued. */
  close(): void {
    this.closeWith({ type: 'left' })
  }

  /** Requests that wait now, in the order they were made. Copies. */
  pending(): PendingClientCall[] {
    return this.waiting.map(
      ({ runId: _run, loopId: _loop, seq: _seq, maxResultChars: _max, holder: _holder, claimed: _claimed, ...pending }) =>
        copyJson(pending),
    )
  }

  /**
   * Says that this client runs the call, for 30 seconds from now on; again to hold it longer. Resolves once that is recorded, with false where another one has it. Rejects with `ConfigError`
   * `unknownCall`, `argumentsChanged`; `invalidOption` without id or hash.
   */
  async claim(request: ApprovalRef, clientId: string): Promise<boolean> {
    const waiting = requestFor(this.waiting, shownRequest(request))
    const holder = sha256(clientId)
    const before = this.#claims.get(waiting)
    if (isOfAnother(before, holder)) return false
    // At once: nobody else gets it while it is being recorded.
    this.#claims.set(waiting, { holder, until: Date.now() + claimMs })
    if (before?.holder === holder) return true
    try {
      await waiting.claimed(holder)
      return true
    } catch (error) {
      this.#claims.delete(waiting)
      throw error
    }
  }

  /** What a page had claimed when a process ended is its own for as long as a claim holds: it has to connect again. */
  protected override begun(request: ClientCallRequest): void {
    const { holder } = request
    if (holder !== undefined) this.#claims.set(request, { holder, until: Date.now() + claimMs })
  }

  /**
   * Ends the call with what a page says came of it; resolves once that is recorded, and rejects where it cannot be. Throws `ConfigError` `unknownCall`,
   * `argumentsChanged`, `claimedElsewhere` where another page runs it, and `invalidMessage` for what is no result, or is too long; the call goes on
   * waiting then.
   */
  answer(request: ApprovalRef, given: ClientCallAnswer, clientId?: string): Promise<void> {
    const waiting = requestFor(this.waiting, shownRequest(request))
    if (isOfAnother(this.#claims.get(waiting), clientId === undefined ? undefined : sha256(clientId)))
      throw new ConfigError('claimedElsewhere', `Call "${waiting.toolCallId}" is run by another page, which has said so first.`)
    const result = answeredResult(given, waiting)
    return new Promise((resolve, reject) => {
      const kept = (failure?: Error) => (failure === undefined ? resolve() : reject(failure))
      this.tell(waiting, { type: 'answered', result, kept })
    })
  }
}

function isOfAnother(claim: Claim | undefined, holder: string | undefined): boolean {
  return claim !== undefined && claim.holder !== holder && claim.until > Date.now()
}
