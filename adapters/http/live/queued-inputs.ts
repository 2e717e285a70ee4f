import type { Receipt } from '../../../src/index.ts'
import { KeptByKey } from './kept-by-key.ts'

/** What a run was handed while it was on. */
export interface QueuedInput {
  kind: 'steer' | 'followUp'
  loopId: string
  receipt: Receipt
}

/** What clients have queued in a session, as long as it waits. */
export class QueuedInputs {
  readonly #byKey = new KeptByKey<QueuedInput>()
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

  /** Takes the message of this id back; says whether it waited. */
  withdraw(messageId: string): boolean {
    const queued = this.waiting().find(({ receipt }) => receipt.message.id === messageId)
    queued?.receipt.withdraw()
    return queued?.receipt.status === 'returned'
  }
}
