import type { AgentMessage } from '../contract/message/message.ts'
import { plainDefaults, type QueueMode } from '../contract/run/settings.ts'
import type { MessageSupplier, QueueWriter } from '../loop/loop-config.ts'
import type { Receipt, ReceiptStatus } from '../types/run/run.ts'

/** A receipt whose state the queue changes. */
class QueuedMessage implements Receipt {
  readonly message: AgentMessage
  readonly owner: RunQueue | undefined
  /** Messages queued in one call, delivered together. */
  readonly input: readonly AgentMessage[]
  readonly settled: Promise<'delivered' | 'returned'>
  status: ReceiptStatus = 'queued'
  readonly #queue: MessageQueue
  #resolve: (status: 'delivered' | 'returned') => void = () => undefined
  stored: Promise<void>
  #resolveStored: (written?: Promise<void>) => void = () => undefined

  constructor(queue: MessageQueue, message: AgentMessage, input: readonly AgentMessage[], owner: RunQueue | undefined) {
    this.#queue = queue
    this.message = message
    this.input = input
    this.owner = owner
    this.settled = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.stored = new Promise((resolve) => {
      this.#resolveStored = resolve
    })
    if (!owner) this.#resolveStored()
  }

  /** Makes `stored` wait for `written`, the journal's write of this message. */
  store(written: Promise<void> | undefined): void {
    this.#resolveStored(written)
    // Prevent an unhandled rejection. The run reports the failure as well.
    this.stored.catch(() => undefined)
    if (written) this.stored = written
  }

  settle(status: 'delivered' | 'returned'): this {
    this.status = status
    this.#resolve(status)
    // Resolve `stored` for messages without a journal record.
    this.#resolveStored()
    return this
  }

  withdraw(): void {
    const taken = this.#queue.settle('returned', ({ input }) => input === this.input)
    taken[0]?.owner?.write(taken, true)
  }
}

/**
 * Queue of messages that wait for a checkpoint of a run.
 *
 * **Contract**
 * - Every message is either delivered once or returned once, as shown by its receipt.
 * - A message queued while idle waits for the next run. A message queued for a run is returned when that run ends.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export class MessageQueue {
  #items: QueuedMessage[] = []
  readonly #listeners = new Set<() => void>()

  /** Queues `messages` for the run of `owner`, or for the next run. Returns the receipt of the last message. */
  add(messages: readonly AgentMessage[], owner?: RunQueue): QueuedMessage {
    const items = messages.map((message) => new QueuedMessage(this, message, messages, owner))
    this.#items.push(...items)
    owner?.write(items)
    for (const listener of this.#listeners) listener()
    return lastOf(items)
  }

  /** Calls `listener` on every enqueue. Returns a function that unsubscribes. */
  onQueued(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  get isWaiting(): boolean {
    return this.#items.length > 0
  }

  /** Returns the messages for one checkpoint: all messages, or only those that the first call queued. */
  next(mode: QueueMode): AgentMessage[] {
    if (!this.isWaiting) return []
    const next = this.#items[0]?.input
    return this.#items.filter(({ input }) => mode === 'all' || input === next).map((item) => item.message)
  }

  /** Removes matching messages and settles their receipts. */
  settle(status: 'delivered' | 'returned', goes: (item: QueuedMessage) => boolean): QueuedMessage[] {
    const settled = this.#items.filter(goes)
    this.#items = this.#items.filter((item) => !goes(item))
    for (const item of settled) item.settle(status)
    return settled
  }

  /** Returns all messages to the caller. */
  clear(): void {
    for (const item of this.#items) {
      item.owner?.returned.push(item.message)
      item.withdraw()
    }
  }
}

/** View of the queue for one run. Takes any waiting message, and returns messages queued for this run only. */
export class RunQueue implements MessageSupplier {
  /** Messages queued for this run and returned, in order. */
  readonly returned: AgentMessage[] = []
  readonly #queue: MessageQueue
  readonly #mode: QueueMode
  #isClosed = false
  #writer: QueueWriter | undefined
  /** Writes delayed until the loop has started. */
  readonly #early: (() => void)[] = []

  constructor(queue: MessageQueue, mode: QueueMode = plainDefaults.queueMode) {
    this.#queue = queue
    this.#mode = mode
  }

  /** Queues `messages` for this run. After `close` they are returned immediately. */
  add(messages: readonly AgentMessage[]): Receipt {
    const receipt = this.#queue.add(messages, this)
    if (this.#isClosed) this.close()
    return receipt
  }

  /** Closes the queue for this run and returns its messages. */
  close(): void {
    this.#isClosed = true
    for (const { message } of this.#queue.settle('returned', ({ owner }) => owner === this)) this.returned.push(message)
  }

  waiting(): boolean {
    return this.#queue.isWaiting
  }

  peek(): AgentMessage[] {
    return this.#queue.next(this.#mode)
  }

  take(only: readonly AgentMessage[] = this.peek()): AgentMessage[] {
    if (only.length === 0) return []
    return this.#queue.settle('delivered', ({ message }) => only.includes(message)).map(({ message }) => message)
  }

  giveBack(messages: readonly AgentMessage[]): void {
    this.#queue.settle('returned', ({ message }) => messages.includes(message))
  }

  onQueued(listener: () => void): () => void {
    return this.#queue.onQueued(listener)
  }

  record(writer: QueueWriter): void {
    this.#writer = writer
    for (const write of this.#early) write()
  }

  /** Records that messages were queued together, or withdrawn. */
  write(items: readonly QueuedMessage[], isReturned = false): void {
    if (this.#isClosed) return
    if (!this.#writer) return void this.#early.push(() => this.write(items, isReturned))
    const messages = items.map(({ message }) => message)
    const written = this.#writer(messages, isReturned)
    for (const item of items) item.store(written)
  }

  leave(): readonly AgentMessage[] {
    this.close()
    return this.returned
  }
}

function lastOf(items: readonly QueuedMessage[]): QueuedMessage {
  const last = items.at(-1)
  if (last === undefined) throw new RangeError('no messages')
  return last
}
