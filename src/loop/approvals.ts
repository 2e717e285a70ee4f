import { ConfigError } from '../types/errors.ts'
import type { PendingApproval } from '../types/event.ts'
import type { JsonObject, JsonValue } from '../types/json.ts'

/** What was decided about a call; `timeout`: nobody answered in time. */
export type ApprovalDecision = { type: 'approved' } | { type: 'denied'; reason?: string } | { type: 'timeout' }

interface Waiting {
  readonly pending: PendingApproval
  readonly decide: (decision: ApprovalDecision) => void
}

/**
 * Calls that wait for a person, and the answers. One for each run: services repeat the ids of calls. A decision is bound to the hash of the
 * arguments that were shown.
 *
 * Source: docs/concepts/approval.md
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

  /**
   * Lets `pending` wait; `decide` is called with the decision, at most once, when it no longer waits. Returns how to withdraw it. For whoever
   * runs the call.
   */
  wait(pending: PendingApproval, decide: (decision: ApprovalDecision) => void): () => void {
    const withdraw = (): void => {
      this.#waiting.delete(pending.toolCallId)
    }
    const decideOnce = (decision: ApprovalDecision): void => {
      withdraw()
      decide(decision)
    }
    this.#waiting.set(pending.toolCallId, { pending, decide: decideOnce })
    return withdraw
  }

  #find(toolCallId: string): Waiting {
    const entry = this.#waiting.get(toolCallId)
    if (entry !== undefined) return entry
    throw new ConfigError('unknownCall', `No tool call "${toolCallId}" waits for approval. See run.pendingApprovals().`)
  }
}

/** SHA-256 of the canonical JSON of `args`, in hex: equal for equal arguments, whatever the order of keys. */
export async function argumentsHash(args: JsonObject): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(args)))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`
}
