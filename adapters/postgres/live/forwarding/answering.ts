import { answerCall } from './answer.ts'
import type { Incoming } from './incoming.ts'
import type { Mailbox } from './mailbox.ts'

interface AnsweringOptions {
  mailbox: Mailbox
  incoming: Incoming
  /** Does something with the database, and never rejects. */
  told: (act: () => Promise<void>) => Promise<void>
  /** Aborts when nothing is answered any more. */
  signal: AbortSignal
}

/** Answers what has come through the database. */
export class Answering {
  readonly #options: AnsweringOptions
  readonly #open = new Set<Promise<void>>()

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  /** Begins to answer what has come since the last time. Rejects as the database does. */
  async receive(): Promise<void> {
    const { mailbox, incoming, told, signal } = this.#options
    for (const call of await mailbox.received()) {
      const answer = (left: AbortSignal) => incoming.answer(call.callId, parsed(call.text), left)
      const answering = told(() => answerCall(mailbox, call, answer, signal))
      this.#open.add(answering)
      void answering.then(() => this.#open.delete(answering))
    }
  }

  /** Resolves once what has begun is answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#open)
  }
}

/** What stands in a text; undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
