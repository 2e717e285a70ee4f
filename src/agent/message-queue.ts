import type { AgentMessage } from '../contract/message/message.ts'
import { plainDefaults, type QueueMode } from '../contract/run/settings.ts'
import type { MessageSupplier, QueueWriter } from '../loop/loop-config.ts'
import type { Receipt, ReceiptStatus } from '../types/run/run.ts'

/** A receipt that can be settled. */
class QueuedMessage implements Receipt {
  readonly message: AgentMessage
  readonly owner: RunQueue | undefined
  /** What was said together: delivered together. */
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

  /** It is written down with this. */
  store(written: Promise<void> | undefined): void {
    this.#resolveStored(written)
    // Whoever does not ask is told of a failure by the run.
    this.stored.catch(() => undefined)
    if (written) this.stored = written
  }

  settle(status: 'delivered' | 'returned'): this {
    this.status = status
    this.#resolve(status)
    // Where it was never written.
    this.#resolveStored()
    return this
  }

  withdraw(): void {
    const taken = this.#queue.settle('returned', ({ input }) => input === this.input)
    taken[0]?.owner?.write(taken, true)
  }
}

/**
 * Messages that wait for a checkpoint of a run.
 *
 * **Contract**
 * - Every message is delivered once or returned once; its receipt says which.
 * - What is queued while idle belongs to nobody and waits for a run that takes it in; what is queued for a run is returned with it.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export class MessageQueue {
  #items: QueuedMessage[] = []
  readonly #told = new Set<() => void>()

  /** Queues `messages` for the run of `owner`, or for the next one. The receipt is that of the last message. */
  add(messages: readonly AgentMessage[], owner?: RunQueue): QueuedMessage {
    const items = messages.map((message) => new QueuedMessage(this, message, messages, owner))
    this.#items.push(...items)
    owner?.write(items)
    for (const told of this.#told) told()
    return lastOf(items)
  }

  /** Calls `told` whenever something is queued, until the returned function is called. */
  onQueued(told: () => void): () => void {
    this.#told.add(told)
    return () => void this.#told.delete(told)
  }

  get isWaiting(): boolean {
    return this.#items.length > 0
  }

  /** What one checkpoint delivers: all of it, or what was said together first. */
  next(mode: QueueMode): AgentMessage[] {
    if (!this.isWaiting) return []
    const next = this.#items[0]?.input
    return this.#items.filter(({ input }) => mode === 'all' || input === next).map((item) => item.message)
  }

  /** Takes out those that `goes` names, and settles their receipts. */
  settle(status: 'delivered' | 'returned', goes: (item: QueuedMessage) => boolean): QueuedMessage[] {
    const settled = this.#items.filter(goes)
    this.#items = this.#items.filter((item) => !goes(item))
    for (const item of settled) item.settle(status)
    return settled
  }

  /** Gives back everything. */
  clear(): void {
    for (const item of this.#items) {
      item.owner?.returned.push(item.message)
      item.withdraw()
    }
  }
}

/** A queue as one run sees it: it may take all that waits, and gives up what was queued for it alone. */
export class RunQueue implements MessageSupplier {
  /** What was queued for this run and given back, in order. */
  readonly returned: AgentMessage[] = []
  readonly #queue: MessageQueue
  readonly #mode: QueueMode
  #isClosed = false
  #writer: QueueWriter | undefined
  /** What is written once the loop has begun. */
  readonly #early: (() => void)[] = []

  constructor(queue: MessageQueue, mode: QueueMode = plainDefaults.queueMode) {
    this.#queue = queue
    this.#mode = mode
  }

  /** Queues `messages` for this run; once it is closed they are returned at once. */
  add(messages: readonly AgentMessage[]): Receipt {
    const receipt = this.#queue.add(messages, this)
    if (this.#isClosed) this.close()
    return receipt
  }

  /** Nothing more reaches this run: gives back what was queued for it. */
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

  onQueued(told: () => void): () => void {
    return this.#queue.onQueued(told)
  }

  record(writer: QueueWriter): void {
    this.#writer = writer
    for (const write of this.#early) write()
  }

  /** Writes down that they wait, said together, or that they were taken back. */
  write(items: readonly QueuedMessage[], isReturned = false): void {
    if (this.#isClosed) return
    if (!this.#writer) return void this.#early.push(() => this.write(items, isReturned))
    const said = items.map(({ message }) => message)
    const written = this.#writer(said, isReturned)
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
