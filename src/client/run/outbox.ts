import { queueAdvice, refuseMore } from '../../base/argument-checks.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { ApprovalRef } from '../../types/run/question.ts'
import type { Receipt, ReceiptStatus } from '../../types/run/run.ts'
import { outgoingPrompt } from '../outgoing-prompt.ts'
import { codeOf } from '../remote-error.ts'
import type { Wire } from '../wire/wire.ts'

/** Receipt of a message that waits on the server. */
export interface QueuedReceipt extends Receipt {
  readonly kind: 'steer' | 'followUp'
}

/** A receipt that is settled by what the server reports. */
export class RemoteReceipt implements QueuedReceipt {
  readonly kind: QueuedReceipt['kind']
  readonly message: AgentMessage
  readonly settled: Promise<'delivered' | 'returned'>
  readonly stored: Promise<void>
  status: ReceiptStatus = 'queued'
  readonly #takeBack: (receipt: RemoteReceipt) => void
  #resolve: (status: 'delivered' | 'returned') => void = () => undefined
  #resolveStored: () => void = () => undefined

  constructor(kind: QueuedReceipt['kind'], message: AgentMessage, takeBack: (receipt: RemoteReceipt) => void) {
    this.kind = kind
    this.message = message
    this.#takeBack = takeBack
    this.settled = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.stored = new Promise((resolve) => {
      this.#resolveStored = resolve
    })
  }

  /** The server has it. */
  accept(): this {
    this.#resolveStored()
    return this
  }

  /** The first outcome counts. */
  settle(status: 'delivered' | 'returned'): this {
    if (this.status === 'queued') this.status = status
    this.#resolve(status)
    this.#resolveStored()
    return this
  }

  withdraw(): void {
    if (this.status === 'queued') this.#takeBack(this)
  }
}

/** The run that something is said in. */
interface SpokenTo {
  readonly loopId: string
  readonly hasEnded: boolean
  /** Settles `receipt` when its events tell what became of it. */
  expect(receipt: RemoteReceipt): void
}

/** Context of an outbox. */
export interface OutboxOwner {
  /** Settles when the server has the run that begins, or has refused it. */
  starting(): Promise<void> | undefined
  warn(event: string, error: unknown): void
}

const paths = { steer: '/steer', followUp: '/follow-up' } as const

/** Sends messages and withdrawals during runs, in order. */
export class Outbox {
  readonly #wire: Wire
  readonly #owner: OutboxOwner
  #sending: Promise<unknown> = Promise.resolve()

  constructor(wire: Wire, owner: OutboxOwner) {
    this.#wire = wire
    this.#owner = owner
  }

  /** Queues `input` for `run`; without a run it is returned at once. */
  queue(kind: QueuedReceipt['kind'], input: PromptInput, run: SpokenTo | undefined, more: readonly unknown[]): Receipt {
    refuseMore(kind, more, queueAdvice)
    const { last, prompt, key } = outgoingPrompt(input)
    const receipt = this.receiptOf(kind, last)
    if (run === undefined || run.hasEnded) return receipt.settle('returned')
    run.expect(receipt)
    this.#send(async () => {
      await this.#owner.starting()
      await this.#wire.json({ method: 'POST', path: paths[kind], key, body: { prompt, loopId: run.loopId } })
      receipt.accept()
    }).catch((error: unknown) => {
      receipt.settle('returned')
      if (codeOf(error) !== 'notRunning') this.#owner.warn('queueFailed', error)
    })
    return receipt
  }

  /** The receipt of a message that waits. */
  receiptOf(kind: QueuedReceipt['kind'], message: RemoteReceipt['message']): RemoteReceipt {
    return new RemoteReceipt(kind, message, (receipt) => this.#takeBack(receipt))
  }

  #takeBack(receipt: RemoteReceipt): void {
    this.#send(async () => {
      if (receipt.status !== 'queued') return
      await this.#wire.json({ method: 'DELETE', path: `/queue/${encodeURIComponent(receipt.message.id)}` })
      receipt.settle('returned')
    }).catch((error: unknown) => {
      // It waits no more: the events tell what became of it.
      if (codeOf(error) !== 'notFound') this.#owner.warn('withdrawFailed', error)
    })
  }

  #send(send: () => Promise<void>): Promise<void> {
    const sent = this.#sending.then(send)
    this.#sending = sent.catch(() => undefined)
    return sent
  }
}

/** A decision about a call. */
interface Decision {
  approved: boolean
  reason?: string
}

/** Sends a decision until the server responds. Resolves with the loop that continues; rejects with `RemoteError`. */
export async function decide(
  wire: Wire,
  { toolCallId, argumentsHash }: Partial<ApprovalRef>,
  decision: Decision,
): Promise<string | undefined> {
  const body = { ...decision, ...(argumentsHash !== undefined && { argumentsHash }) }
  return wire.decide(`/approvals/${encodeURIComponent(String(toolCallId))}`, body)
}
