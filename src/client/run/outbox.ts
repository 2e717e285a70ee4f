import { queueAdvice, refuseMore } from '../../base/argument-checks.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { checkApproval } from '../../base/questions.ts'
import { ConfigError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { ApprovalRef, ApproveOptions } from '../../types/run/question.ts'
import type { Receipt, ReceiptStatus } from '../../types/run/run.ts'
import { outgoingPrompt } from '../outgoing-prompt.ts'
import { codeOf } from '../remote-error.ts'
import type { Wire } from '../wire/wire.ts'

/** Receipt of a message queued on the server. */
export interface QueuedReceipt extends Receipt {
  readonly kind: 'steer' | 'followUp'
}

/** A receipt that settles when the server reports the outcome. */
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

  /** Called when the server has stored the message. */
  accept(): this {
    this.#resolveStored()
    return this
  }

  /** Ignores all outcomes after the first. */
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

/** A run for which messages can be queued. */
interface SpokenTo {
  readonly loopId: string
  readonly hasEnded: boolean
  /** Settles `receipt` when an event reports the message's outcome. */
  expect(receipt: RemoteReceipt): void
}

/** What an outbox needs from its session. */
export interface OutboxOwner {
  /** Settles when the server has accepted or rejected the run that is starting. */
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

  /** Queues `input` for `run`. Without a run, the message is returned immediately. */
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

  /** Returns the receipt of a queued message. */
  receiptOf(kind: QueuedReceipt['kind'], message: RemoteReceipt['message']): RemoteReceipt {
    return new RemoteReceipt(kind, message, (receipt) => this.#takeBack(receipt))
  }

  #takeBack(receipt: RemoteReceipt): void {
    this.#send(async () => {
      if (receipt.status !== 'queued') return
      await this.#wire.json({ method: 'DELETE', path: `/queue/${encodeURIComponent(receipt.message.id)}` })
      receipt.settle('returned')
    }).catch((error: unknown) => {
      // `notFound` means that the message is no longer queued. Events report its outcome.
      if (codeOf(error) !== 'notFound') this.#owner.warn('withdrawFailed', error)
    })
  }

  #send(send: () => Promise<void>): Promise<void> {
    const sent = this.#sending.then(send)
    this.#sending = sent.catch(() => undefined)
    return sent
  }
}

/** A decision about a call, in the form sent to the server. */
export interface Decision extends Pick<ApproveOptions, 'arguments' | 'tellModel'> {
  approved: boolean
  reason?: string
}

/** Returns the approval with these options. Throws `ConfigError` `invalidOption` for unknown options and for `by`. */
export function approvalWith(options: ApproveOptions, more: readonly unknown[]): Decision {
  checkApproval(options, more)
  const { arguments: args, by, tellModel } = options
  if (by !== undefined)
    throw new ConfigError('invalidOption', 'approve does not accept "by" here: the server records who approves. Omit it.')
  return { approved: true, ...(args !== undefined && { arguments: copyJson(args) }), ...(tellModel !== undefined && { tellModel }) }
}

/**
 * Sends a decision, with retries until the server responds. Resolves with the id of the loop that continues. Rejects with `RemoteError`.
 */
export async function decide(
  wire: Wire,
  { toolCallId, argumentsHash }: Partial<ApprovalRef>,
  decision: Decision,
): Promise<string | undefined> {
  const body: JsonObject = { ...decision, ...(argumentsHash !== undefined && { argumentsHash }) }
  return wire.decide(`/approvals/${encodeURIComponent(String(toolCallId))}`, body)
}
