import { copyJson } from '../../base/json/copy-json.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { PendingApproval } from '../../contract/run/run-facts.ts'
import type { ApprovalDecision, ApprovalDesk, ApprovalRef, ApprovalRequest } from '../../types/run/approval.ts'

interface Waiting {
  readonly request: ApprovalRequest
  readonly decide: (decision: ApprovalDecision) => void
}

/**
 * Calls that wait for a person, and the answers. A decision is about one request: its call, the hash of the arguments that were shown, and the
 * event that showed them where that is given. Services repeat the ids of calls, in later turns and in sub-agents.
 *
 * Source: docs/concepts/approval.md
 */
export class Approvals implements ApprovalDesk {
  readonly #waiting = new Set<Waiting>()

  /** Requests that wait now, in the order they were made. Copies. */
  pending(): PendingApproval[] {
    return Array.from(this.#waiting, ({ request: { runId: _run, loopId: _loop, seq: _seq, ...pending } }) => copyJson(pending))
  }

  /** Lets the call run that `request` showed. Throws `ConfigError` `unknownCall`, `argumentsChanged`; `invalidOption` without id or hash. */
  approve(request: ApprovalRef): void {
    const { toolCallId, argumentsHash }: Partial<ApprovalRef> = Object(request)
    if (typeof toolCallId !== 'string' || typeof argumentsHash !== 'string') {
      const advice = 'Pass the approvalRequested event, an entry of run.pendingApprovals(), or { toolCallId, argumentsHash }.'
      throw new ConfigError('invalidOption', `An approval is for the request that was shown. ${advice}`)
    }
    this.#find(request).decide({ type: 'approved' })
  }

  /** Refuses a call: that of `request`, or the one of that id which waits longest. Throws `ConfigError` `unknownCall`, `argumentsChanged`. */
  deny(request: ApprovalRef | string, reason?: string): void {
    const waiting = this.#find(typeof request === 'string' ? { toolCallId: request } : request)
    waiting.decide(reason === undefined ? { type: 'denied' } : { type: 'denied', reason })
  }

  wait(request: ApprovalRequest, decide: (decision: ApprovalDecision) => void): () => void {
    const waiting: Waiting = {
      request,
      decide: (decision) => {
        if (this.#waiting.delete(waiting)) decide(decision)
      },
    }
    this.#waiting.add(waiting)
    return () => void this.#waiting.delete(waiting)
  }

  #find({ toolCallId, argumentsHash, runId, seq }: Partial<ApprovalRef>): Waiting {
    const ofCall = [...this.#waiting].filter(({ request }) => request.toolCallId === toolCallId)
    const same = ofCall.filter(({ request }) => argumentsHash === undefined || request.argumentsHash === argumentsHash)
    const [found] = same.filter(
      ({ request }) => (runId === undefined || request.runId === runId) && (seq === undefined || request.seq === seq),
    )
    if (found !== undefined) return found
    const [other] = ofCall
    if (other === undefined || same.length > 0) throw unknownCall(toolCallId)
    throw new ConfigError(
      'argumentsChanged',
      `The approval of call "${toolCallId}" is for other arguments (hash ${argumentsHash}, waiting: ${other.request.argumentsHash}). Show the waiting arguments and ask again.`,
    )
  }
}

function unknownCall(toolCallId: string | undefined): ConfigError {
  return new ConfigError('unknownCall', `No tool call "${toolCallId}" waits for approval. See run.pendingApprovals().`)
}
