import type { AgentMessage, AgentRun, Receipt, ReceiptStatus } from '../../../../src/index.ts'
import type { RecordedInput } from '../../../../src/internal.ts'
import type { SessionRecord } from '../../../../src/session.ts'

/** How many keys of clients a session knows in memory; the newest ones. */
export const maxKept = 100

/**
 * What was made under a key, so that whoever asks again gets the same and nothing is made twice. The newest 100 are kept; what failed is not.
 */
export class IdempotencyCache<Made> {
  readonly #kept = new Map<string, Promise<Made>>()

  /** What was made under `key`; else what `make` makes. Without a key it is always made. */
  get(key: string | undefined, make: () => Promise<Made>): Promise<Made> {
    if (key === undefined) return make()
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const made = make()
    this.#kept.set(key, made)
    // It may be asked for anew.
    made.catch(() => this.#kept.delete(key))
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest)
    return made
  }
}

/** The loops that were begun under keys, by these; the newest ones. */
export function loopsByKey(records: readonly SessionRecord[]): ReadonlyMap<string, string> {
  const begun = records.flatMap(({ entry, loopId }): [string, string][] =>
    entry.type === 'loopStart' && entry.idempotencyKey !== undefined && loopId !== undefined ? [[entry.idempotencyKey, loopId]] : [],
  )
  return new Map(begun.slice(-maxKept))
}

/** The versions of shared state that clients have made under keys, by these; the newest ones. */
export function versionsByKey(records: readonly SessionRecord[]): ReadonlyMap<string, number> {
  const made = records.flatMap(({ entry }): [string, number][] =>
    entry.type === 'sharedState' && entry.idempotencyKey !== undefined ? [[entry.idempotencyKey, entry.version]] : [],
  )
  return new Map(made.slice(-maxKept))
}

/** What a run has still to hear. */
export interface WaitingInput {
  kind: 'steer' | 'followUp'
  loopId: string
  message: AgentMessage
}

/** What a run was handed while it was on. */
export interface QueuedInput {
  kind: 'steer' | 'followUp'
  loopId: string
  receipt: Receipt
}

/** What clients have queued in a session, as long as it waits. */
export class QueuedInputs {
  readonly #byKey = new IdempotencyCache<QueuedInput>()
  #waiting: QueuedInput[] = []

  /** What `add` queues; once for each `key`. */
  once(key: string | undefined, add: () => Promise<QueuedInput>): Promise<QueuedInput> {
    return this.#byKey.get(key, async () => {
      const queued = await add()
      this.#waiting = [...this.waiting(), queued]
      return queued
    })
  }

  /** In the order in which they were queued. */
  waiting(): QueuedInput[] {
    this.#waiting = this.#waiting.filter(({ receipt }) => receipt.status === 'queued')
    return this.#waiting
  }

  /** As clients are shown what waits. */
  shown(): WaitingInput[] {
    return this.waiting().map(({ kind, loopId, receipt: { message } }) => ({ kind, loopId, message }))
  }

  /** Takes the message of this id back, for good once it resolves; says whether it waited. */
  async withdraw(messageId: string): Promise<boolean> {
    const queued = this.waiting().find(({ receipt }) => receipt.message.id === messageId)
    queued?.receipt.withdraw()
    await queued?.receipt.stored
    return queued?.receipt.status === 'returned'
  }

  /** What was said to the runs of a process before: whoever says it again gets the same. What waits still, `run` hears. */
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
