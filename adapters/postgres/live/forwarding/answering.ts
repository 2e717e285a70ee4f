import { parsedJson } from '../../../../src/base/json/json-value.ts'
import { type AnswerOptions, answerCall } from './answer.ts'
import type { Incoming } from './incoming.ts'
import type { ReceivedCall } from './mailbox.ts'

interface AnsweringOptions extends AnswerOptions {
  incoming: Incoming
}

/** Responds to requests that arrive through the database. */
export class Answering {
  readonly #options: AnsweringOptions
  readonly #open = new Map<string, Promise<void>>()
  /** The database failed during a read, so requests may have been lost. */
  #hasMissed = false

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  /** Starts to respond to new requests. Rejects as the database does. */
  async receive(): Promise<void> {
    const { mailbox, incoming } = this.#options
    const hadMissed = this.#hasMissed
    this.#hasMissed = true
    if (hadMissed) this.#begin(await mailbox.missed((callId) => this.#open.has(callId) || incoming.isKnown(callId)))
    this.#begin(await mailbox.received())
    this.#hasMissed = false
  }

  /** Resolves once all started responses are sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#open.values())
  }

  #begin(calls: readonly ReceivedCall[]): void {
    for (const call of calls) {
      const { callId } = call
      const answer = (left: AbortSignal) => this.#options.incoming.answer(callId, parsedJson(call.text), left)
      const answering = answerCall(call, answer, this.#options)
      this.#open.set(callId, answering)
      void answering.then(() => this.#open.delete(callId))
    }
  }
}
