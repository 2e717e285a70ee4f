import type { AgentMessage, AgentRun, Receipt, ReceiptStatus } from '../../../../src/index.ts'
import type { RecordedInput } from '../../../../src/internal.ts'
import type { SessionRecord } from '../../../../src/session.ts'

/** Maximum number of idempotency keys to cache per session. Beyond it, the oldest keys are evicted. */
export const maxKept = 100

/** An idempotency cache: calls with the same key share one result. Caches the newest 100 results, but no failures. */
export class IdempotencyCache<Made> {
  readonly #kept = new Map<string, Promise<Made>>()

  /** Returns the cached result for `key`, or calls `make`. Without a key, always calls `make`. */
  get(key: string | undefined, make: () => Promise<Made>): Promise<Made> {
    if (key === undefined) return make()
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const made = make()
    this.#kept.set(key, made)
    // Remove failures from the cache, so that they can be retried.
    made.catch(() => this.#kept.delete(key))
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest)
    return made
  }
}

/** Returns the newest loops by idempotency key. */
export function loopsByKey(records: readonly SessionRecord[]): ReadonlyMap<string, string> {
  const begun = records.flatMap(({ entry, loopId }): [string, string][] =>
    entry.type === 'loopStart' && entry.idempotencyKey !== undefined && loopId !== undefined ? [[entry.idempotencyKey, loopId]] : [],
  )
  return new Map(begun.slice(-maxKept))
}

/** Returns the newest shared-state versions by idempotency key. */
export function versionsByKey(records: readonly SessionRecord[]): ReadonlyMap<string, number> {
  const made = records.flatMap(({ entry }): [string, number][] =>
    entry.type === 'sharedState' && entry.idempotencyKey !== undefined ? [[entry.idempotencyKey, entry.version]] : [],
  )
  return new Map(made.slice(-maxKept))
}

/** A run's queued message. */
export interface WaitingInput {
  kind: 'steer' | 'followUp'
  loopId: string
  message: AgentMessage
}

/** A message that was queued for a run. */
export interface QueuedInput {
  kind: 'steer' | 'followUp'
  loopId: string
  receipt: Receipt
}

/** Pending messages that clients have queued in a session. */
export class QueuedInputs {
  readonly #byKey = new IdempotencyCache<QueuedInput>()
  #waiting: QueuedInput[] = []

  /** Queues with `add`, once per `key`. */
  once(key: string | undefined, add: () => Promise<QueuedInput>): Promise<QueuedInput> {
    return this.#byKey.get(key, async () => {
      const queued = await add()
      this.#waiting = [...this.waiting(), queued]
      return queued
    })
  }

  /** Returns the pending messages in order. */
  waiting(): QueuedInput[] {
    this.#waiting = this.#waiting.filter(({ receipt }) => receipt.status === 'queued')
    return this.#waiting
  }

  /** Returns the pending messages in the form sent to clients. */
  shown(): WaitingInput[] {
    return this.waiting().map(({ kind, loopId, receipt: { message } }) => ({ kind, loopId, message }))
  }

  /** Withdraws a message. Resolves with whether it was pending, once the withdrawal is recorded. */
  async withdraw(messageId: string): Promise<boolean> {
    const queued = this.waiting().find(({ receipt }) => receipt.message.id === messageId)
    queued?.receipt.withdraw()
    await queued?.receipt.stored
    return queued?.receipt.status === 'returned'
  }

  /** Adopts messages that earlier processes have accepted, so that retries get the same result. Delivers pending messages to `run`. */
  takeOver(inputs: Iterable<RecordedInput>, run: AgentRun | undefined): void {
    for (const { kind, loopId, messages, status } of inputs) {
      const message = messages.at(-1)
      if (message === undefined) continue
      const isHeard = status !== 'queued' || run === undefined
      const receipt = isHeard ? settledReceipt(message, status) : run[kind]([...messages])
      void this.once(message.id, async () => ({ kind, loopId: isHeard ? loopId : run.loopId, receipt }))
    }
  }
}

function settledReceipt(message: Receipt['message'], status: ReceiptStatus): Receipt {
  const end = status === 'queued' ? 'returned' : status
  return { message, status: end, settled: Promise.resolve(end), stored: Promise.resolve(), withdraw: () => undefined }
}
