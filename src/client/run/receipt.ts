import type { AgentMessage } from '../../contract/message/message.ts'
import type { Receipt, ReceiptStatus } from '../../types/run/run.ts'

/** What waits to be said, and as what. */
export interface QueuedReceipt extends Receipt {
  readonly kind: 'steer' | 'followUp'
}

/** A receipt that is settled by what the server reports. */
export class RemoteReceipt implements QueuedReceipt {
  readonly kind: QueuedReceipt['kind']
  readonly message: AgentMessage
  readonly settled: Promise<'delivered' | 'returned'>
  status: ReceiptStatus = 'queued'
  readonly #takeBack: (receipt: RemoteReceipt) => void
  #resolve: (status: 'delivered' | 'returned') => void = () => undefined

  constructor(kind: QueuedReceipt['kind'], message: AgentMessage, takeBack: (receipt: RemoteReceipt) => void) {
    this.kind = kind
    this.message = message
    this.#takeBack = takeBack
    this.settled = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** The first outcome counts. */
  settle(status: 'delivered' | 'returned'): this {
    if (this.status === 'queued') this.status = status
    this.#resolve(status)
    return this
  }

  withdraw(): void {
    if (this.status === 'queued') this.#takeBack(this)
  }
}
