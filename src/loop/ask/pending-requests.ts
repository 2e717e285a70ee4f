import { argumentsHash, sha256 } from '../../base/hash.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { checkApproval, checkedAnswer, inputFor, requestFor, shownRequest } from '../../base/questions.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { PendingApproval, PendingClientCall, PendingInput } from '../../contract/run/run-facts.ts'
import type {
  ApprovalDecision,
  ApprovalRef,
  ApprovalRequest,
  ApproveOptions,
  ClientCallAnswer,
  ClientCallOutcome,
  ClientCallRequest,
  InputAnswer,
  InputRef,
  InputRequest,
  RequestHandler,
} from '../../types/run/question.ts'
import { answeredResult } from './client-answer.ts'

/** Pending requests in order. A request stays pending until its response or withdrawal. */
abstract class PendingRequests<Request, Answer> implements RequestHandler<Request, Answer> {
  readonly #waiting = new Map<Request, (answer: Answer) => void>()
  readonly isAttended: () => boolean
  /** The response to every request after `closeWith`. */
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
    // Copy the request, because the same object may be pending twice.
    const own = { ...request }
    this.#waiting.set(own, answer)
    this.begun(own)
    return () => void this.#waiting.delete(own)
  }

  /** Called when a request becomes pending. */
  protected begun(_request: Request): void {
    // The client-call queue overrides this method.
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
 * A run's pending approvals, and decisions about them. A decision applies to one request: its call id, the hash of the shown arguments, and
 * the event if given. Call ids alone are ambiguous, because providers repeat them in later turns and sub-agents.
 *
 * Source: docs/concepts/approval.md
 */
export class Approvals extends PendingRequests<ApprovalRequest, ApprovalDecision> {
  /** Times out all pending and future requests. A continued run requests them again. */
  close(): void {
    this.closeWith({ type: 'timeout' })
  }

  /** Returns copies of the pending requests, in order. */
  pending(): PendingApproval[] {
    return this.waiting.map(({ runId: _run, loopId: _loop, seq: _seq, checkEdit: _check, ...pending }) => copyJson(pending))
  }

  /** Approves the call of `request`. Throws `ConfigError` `unknownCall`, `argumentsChanged`, or `invalidOption` without id or hash. */
  approve(request: ApprovalRef): void
  /**
   * Approves with options. Rejects with the same errors as `approve(request)`, and with `invalidOption` for invalid options. The call then
   * stays pending.
   */
  approve(request: ApprovalRef, options: ApproveOptions, ...more: never[]): Promise<void>
  approve(request: ApprovalRef, options?: ApproveOptions, ...more: never[]): void | Promise<void> {
    if (options !== undefined) return this.#approveWith(request, options, more)
    this.tell(requestFor(this.waiting, shownRequest(request)), { type: 'approved' })
  }

  async #approveWith(request: ApprovalRef, options: ApproveOptions, more: readonly never[]): Promise<void> {
    checkApproval(options, more)
    const { arguments: given, by, tellModel } = options
    const asked = requestFor(this.waiting, shownRequest(request))
    const args = given === undefined ? asked.args : ((await asked.checkEdit?.(given)) ?? copyJson(given))
    const who = by !== undefined && { by }
    const hash = argumentsHash(args)
    const edited = hash !== asked.argumentsHash && {
      edited: { arguments: args, argumentsHash: hash, ...who, ...(tellModel === false && { tellModel }) },
    }
    // Check again, because another decision may have been made in the meantime.
    this.tell(requestFor(this.waiting, asked), { type: 'approved', ...who, ...edited })
  }

  /** Denies the call of `request`, or the oldest pending call with that id. Throws `ConfigError` `unknownCall`, `argumentsChanged`. */
  deny(request: ApprovalRef | string, reason?: string): void {
    const waiting = requestFor(this.waiting, typeof request === 'string' ? { toolCallId: request } : request)
    this.tell(waiting, reason === undefined ? { type: 'denied' } : { type: 'denied', reason })
  }
}

/** User input requests from a run's calls, and responses to them. Source: docs/concepts/approval.md */
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
 * A run's client tool calls and their results. A result belongs to one request, identified by its call id and the hash of the displayed
 * arguments. While a client holds a claim, rejects results from other clients.
 *
 * Source: docs/concepts/tools.md
 */
export class ClientCalls extends PendingRequests<ClientCallRequest, ClientCallOutcome> {
  readonly #claims = new WeakMap<ClientCallRequest, Claim>()

  /** Ends all pending and future requests. A continued run requests them again. */
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
   * Claims a call for this client for 30 seconds. Call again to extend the claim. Resolves once recorded, or with `false` if another client
   * holds the claim. Rejects with `ConfigError` `unknownCall`, `argumentsChanged`, or `invalidOption` without id or hash.
   */
  async claim(request: ApprovalRef, clientId: string): Promise<boolean> {
    const waiting = requestFor(this.waiting, shownRequest(request))
    const holder = sha256(clientId)
    const before = this.#claims.get(waiting)
    if (isOfAnother(before, holder)) return false
    // Set before recording, so that no other client can claim the call in the meantime.
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

  /** Restores a claim from before a restart for one lifetime, so that its client can reconnect. */
  protected override begun(request: ClientCallRequest): void {
    const { holder } = request
    if (holder !== undefined) this.#claims.set(request, { holder, until: Date.now() + claimMs })
  }

  /**
   * Submits a call's result. Resolves once recorded. Throws `ConfigError`: `unknownCall`, `argumentsChanged`, `claimedElsewhere` if another
   * client holds the claim, or `invalidMessage` for an invalid or too long result. The call then stays pending.
   */
  answer(request: ApprovalRef, given: ClientCallAnswer, clientId?: string): Promise<void> {
    const waiting = requestFor(this.waiting, shownRequest(request))
    if (isOfAnother(this.#claims.get(waiting), clientId === undefined ? undefined : sha256(clientId)))
      throw new ConfigError('claimedElsewhere', `Call "${waiting.toolCallId}" is already claimed by another client.`)
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
