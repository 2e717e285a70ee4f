import type { AgentMessage } from '../../types/message/message.ts'
import type { Receipt, ReceiptStatus } from '../../types/run/run.ts'

/** A receipt that is settled by what the server reports. */
export class RemoteReceipt implements Receipt {
  readonly message: AgentMessage
  readonly settled: Promise<'delivered' | 'returned'>
  status: ReceiptStatus = 'queued'
  #resolve: (status: 'delivered' | 'returned') => void = () => undefined

  constructor(message: AgentMessage) {
    this.message = message
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
}
