import { ConfigError } from '../types/errors.ts'
import type { PendingApproval } from '../types/event.ts'
import { startTimer } from './start-timer.ts'

/** What was decided about a call; `timeout`: nobody answered in time. */
export type ApprovalDecision = { type: 'approved' } | { type: 'denied'; reason?: string } | { type: 'timeout' }

interface Waiting {
  readonly pending: PendingApproval
  readonly decide: (decision: ApprovalDecision) => void
}

/**
 * Calls that wait for a person, and the answers. One for each run: services repeat the ids of calls.
 *
 * **Contract**
 * - A decision is bound to the hash of the arguments that were shown.
 * - `wait` rejects with the signal's reason when it aborts first; afterwards the call no longer waits, and neither timer nor listener is left.
 */
export class Approvals {
  readonly #waiting = new Map<string, Waiting>()

  /** Calls that wait now, in the order they were asked for. */
  pending(): PendingApproval[] {
    return Array.from(this.#waiting.values(), (entry) => entry.pending)
  }

  /** Lets a waiting call run. Throws `ConfigError` `unknownCall` or `argumentsChanged`. */
  approve(toolCallId: string, argumentsHash?: string): void {
    const { pending, decide } = this.#find(toolCallId)
    if (argumentsHash !== undefined && argumentsHash !== pending.argumentsHash) {
      throw new ConfigError(
        'argumentsChanged',
        `The approval of call "${toolCallId}" is for other arguments (hash ${argumentsHash}, waiting: ${pending.argumentsHash}). Show the waiting arguments and ask again.`,
      )
    }
    decide({ type: 'approved' })
  }

  /** Refuses a waiting call. Throws `ConfigError` `unknownCall`. */
  deny(toolCallId: string, reason?: string): void {
    this.#find(toolCallId).decide(reason === undefined ? { type: 'denied' } : { type: 'denied', reason })
  }

  /** Waits for the decision about `pending`. `timeoutMs` absent means forever. */
  wait(pending: PendingApproval, signal: AbortSignal, timeoutMs?: number): Promise<ApprovalDecision> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason)
        return
      }
      let stopTimer: (() => void) | undefined
      const settle = () => {
        stopTimer?.()
        signal.removeEventListener('abort', stop)
        this.#waiting.delete(pending.toolCallId)
      }
      const decide = (decision: ApprovalDecision) => {
        settle()
        resolve(decision)
      }
      const stop = () => {
        settle()
        reject(signal.reason)
      }
      this.#waiting.set(pending.toolCallId, { pending, decide })
      signal.addEventListener('abort', stop, { once: true })
      if (timeoutMs !== undefined) stopTimer = startTimer(timeoutMs, () => decide({ type: 'timeout' }))
    })
  }

  #find(toolCallId: string): Waiting {
    const entry = this.#waiting.get(toolCallId)
    if (entry !== undefined) return entry
    const known = this.pending().map((pending) => pending.toolCallId)
    throw new ConfigError(
      'unknownCall',
      `No tool call "${toolCallId}" waits for approval. Waiting now: ${known.length === 0 ? 'none' : known.join(', ')}.`,
    )
  }
}
