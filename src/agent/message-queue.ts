import type { MessageSupplier } from '../loop/loop-config.ts'
import type { AgentMessage } from '../types/message.ts'
import type { Receipt, ReceiptStatus } from '../types/run.ts'
import type { QueueMode } from '../types/settings.ts'

/** A receipt that can be settled. */
class QueuedMessage implements Receipt {
  readonly message: AgentMessage
  readonly owner: string | undefined
  /** What was said together: delivered together. */
  readonly input: readonly AgentMessage[]
  readonly settled: Promise<'delivered' | 'returned'>
  status: ReceiptStatus = 'queued'
  #resolve: (status: 'delivered' | 'returned') => void = () => undefined

  constructor(message: AgentMessage, input: readonly AgentMessage[], owner: string | undefined) {
    this.message = message
    this.input = input
    this.owner = owner
    this.settled = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  settle(status: 'delivered' | 'returned'): this {
    this.status = status
    this.#resolve(status)
    return this
  }
}

/**
 * Messages that wait for a checkpoint of a loop.
 *
 * **Contract**
 * - Every message is delivered once or returned once; its receipt says which.
 * - What is queued while idle belongs to nobody and opens the next run; an abort returns only what was queued for the aborted run.
 *
 * Source: docs/concepts/steering-and-follow-ups.md
 */
export class MessageQueue implements MessageSupplier {
  mode: QueueMode
  #items: QueuedMessage[] = []

  constructor(mode: QueueMode) {
    this.mode = mode
  }

  /** Queues `messages` for the run `owner`, or for the next run. The receipt is that of the last message. */
  add(messages: readonly AgentMessage[], owner: string | undefined): Receipt {
    const items = messages.map((message) => new QueuedMessage(message, messages, owner))
    this.#items.push(...items)
    return lastOf(items)
  }

  waiting(): boolean {
    return this.#items.length > 0
  }

  peek(): AgentMessage[] {
    const next = this.#items[0]?.input
    return this.#items.filter(({ input }) => this.mode === 'all' || input === next).map((item) => item.message)
  }

  take(only: readonly AgentMessage[] = this.peek()): AgentMessage[] {
    return this.#remove((item) => only.includes(item.message)).map((item) => item.settle('delivered').message)
  }

  giveBack(messages: readonly AgentMessage[]): void {
    for (const item of this.#remove(({ message }) => messages.includes(message))) item.settle('returned')
  }

  /** Gives back what was queued for `owner`. */
  returnOwned(owner: string): void {
    for (const item of this.#remove((item) => item.owner === owner)) item.settle('returned')
  }

  /** Gives back everything. */
  clear(): void {
    for (const item of this.#remove(() => true)) item.settle('returned')
  }

  #remove(goes: (item: QueuedMessage) => boolean): QueuedMessage[] {
    const removed = this.#items.filter(goes)
    this.#items = this.#items.filter((item) => !goes(item))
    return removed
  }
}

/** The receipt of messages that came too late to be queued. */
export function returnedReceipt(messages: readonly AgentMessage[]): Receipt {
  return lastOf(messages.map((message) => new QueuedMessage(message, messages, undefined).settle('returned')))
}

function lastOf(items: readonly QueuedMessage[]): QueuedMessage {
  const last = items.at(-1)
  if (last === undefined) throw new RangeError('no messages')
  return last
}
