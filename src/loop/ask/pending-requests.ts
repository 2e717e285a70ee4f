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

/** Queue of pending requests, in order, until a response or a withdrawal. */
abstract class PendingRequests<Request, Answer> implements RequestHandler<Request, Answer> {
  readonly #waiting = new Map<Request, (answer: Answer) => void>()
  readonly isAttended: () => boolean
  /** Response for all requests after `closeWith`. */
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
    // A new object, because the same request may be pending twice.
    const own = { ...request }
    this.#waiting.set(own, answer)
    this.begun(own)
    return () => void this.#waiting.delete(own)
  }

  /** Called when a request becomes pending. */
  protected begun(_request: Request): void {
    // Only client calls need this.
  }

  /** Whether a request is pending. */
  get hasPending(): boolean {
    return this.#waiting.size > 0
  }

  protected get waiting(): Request[] {
    return [...this.#waiting.keys()]
  }

  /** Responds to all pending and future requests with `answer`. */
  protected closeWith(answer: Answer): void {
    this.#closed = { answer }
    for (const request of this.waiting) this.tell(request, answer)
  }

  protected tell(request: Request, answer: Answer): void {
    const settle = this.#waiting.get(request)
    this.#waiting.delete(request)
    settle?.(answer)
  }
}

/**
 * Pending approvals of a run, and decisions about them. A decision applies to one request: its call id, the hash of the shown arguments,
 * and the event if given. Call ids alone are ambiguous, because providers repeat them in later turns and sub-agents.
 *
 * Source: docs/concepts/approval.md
 */
export class Approvals extends PendingRequests<ApprovalRequest, ApprovalDecision> {
  /** Times out all pending and future requests; a continued run requests them again. */
  close(): void {
    this.closeWith({ type: 'timeout' })
  }

  /** Returns copies of the pending requests, in order. */
  pending(): PendingApproval[] {
    return this.waiting.map(({ runId: _run, loopId: _loop, seq: _seq, ...pending }) => copyJson(pending))
  }

  /** Approves the call of `request`. Throws `ConfigError` `unknownCall`, `argumentsChanged`; `invalidOption` without id or hash. */
  approve(request: ApprovalRef): void {
    this.tell(requestFor(this.waiting, shownRequest(request)), { type: 'approved' })
  }

  /** Denies the call of `request`, or the oldest pending call with that id. Throws `ConfigError` `unknownCall`, `argumentsChanged`. */
  deny(request: ApprovalRef | string, reason?: string): void {
    const waiting = requestFor(this.waiting, typeof request === 'string' ? { toolCallId: request } : request)
    this.tell(waiting, reason === undefined ? { type: 'denied' } : { type: 'denied', reason })
  }
}

/** User input requests of a run's calls, and responses to them. Source: docs/concepts/approval.md */
export class Inputs extends PendingRequests<InputRequest, InputAnswer> {
  /** Returns copies of the pending requests, in order. */
  pending(): PendingInput[] {
    return this.waiting.map(({ loopId: _loop, ...pending }) => copyJson(pending))
  }

  /** Responds to a pending request. Throws `ConfigError` `unknownInput` if it is not pending, `invalidOption` for an invalid response. */
  answer(request: InputRef | string, given: InputAnswer): void {
    this.tell(inputFor(this.waiting, request), checkedAnswer(given))
  }
}

/** Claim of a client tool call: SHA-256 of the client id, and its expiry in epoch milliseconds. */
interface Claim {
  holder: string
  until: number
}

/** Lifetime of a claim without renewal. */
const claimMs = 30_000

/**
 * Client tool calls of a run, and their results. A result applies to one request: its call id and the hash of the shown arguments. While a
 * client holds a claim, results of other clients are rejected.
 *
 * Source: docs/concepts/tools.md
 */
export class ClientCalls extends PendingRequests<ClientCallRequest, ClientCallOutcome> {
  readonly #claims = new WeakMap<ClientCallRequest, Claim>()

  /** Ends all pending and future requests; a continued run requests them again. */
  close(): void {
    this.closeWith({ type: 'left' })
  }

  /** Returns copies of the pending requests, in order. */
  pending(): PendingClientCall[] {
    return this.waiting.map(
      ({ runId: _run, loopId: _loop, seq: _seq, maxResultChars: _max, holder: _holder, claimed: _claimed, ...pending }) =>
        copyJson(pending),
    )
  }

  /**
   * Claims a call for this client, for 30 seconds; call again to extend. Resolves once recorded, with false if another client holds it.
   * Rejects with `ConfigError` `unknownCall`, `argumentsChanged`; `invalidOption` without id or hash.
   */
  async claim(request: ApprovalRef, clientId: string): Promise<boolean> {
    const waiting = requestFor(this.waiting, shownRequest(request))
    const holder = sha256(clientId)
    const before = this.#claims.get(waiting)
    if (isOfAnother(before, holder)) return false
    // Set before recording, so that no other client can claim it meanwhile.
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

  /** A claim from before a restart stays valid for one lifetime, so that its client can reconnect. */
  protected override begun(request: ClientCallRequest): void {
    const { holder } = request
    if (holder !== undefined) this.#claims.set(request, { holder, until: Date.now() + claimMs })
  }

  /**
   * Submits the result of a call; resolves once recorded. Throws `ConfigError` `unknownCall`, `argumentsChanged`, `claimedElsewhere` if
   * another client holds it, and `invalidMessage` for an invalid or too long result; the call then stays pending.
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
