import { logWarning } from '../../../../src/base/log-warning.ts'
import { startTimer } from '../../../../src/base/timer.ts'
import type { ForwardedCommand } from '../../../../src/contract/session/session-command.ts'
import type { Logger } from '../../../../src/index.ts'
import { AwaitedAnswer } from './awaited-answer.ts'
import type { Mailbox, ReceivedPart } from './mailbox.ts'

/** The process that had the session is gone. */
export class HolderGoneError extends Error {
  /** Whether it may have done something. */
  readonly wasTaken: boolean

  constructor(wasTaken: boolean) {
    super('The process that answered for this session has gone.')
    this.name = 'HolderGoneError'
    this.wasTaken = wasTaken
  }
}

/** Nobody has taken a request in time, and nobody will. */
export class NotTakenError extends Error {
  constructor() {
    super('The process that answers for this session has not taken the request in time.')
    this.name = 'NotTakenError'
  }
}

interface ForwardingOptions {
  mailbox: Mailbox
  logger: Logger | false | undefined
  wake: () => void
}

interface AskOptions {
  signal: AbortSignal
  /** Milliseconds in which it is to be taken. */
  beginMs: number
}

/** Passes commands on through the database, and reads what other processes answer. */
export class Forwarding {
  readonly #mailbox: Mailbox
  readonly #logger: Logger | false | undefined
  readonly #wake: () => void
  readonly #open = new Map<string, AwaitedAnswer>()
  #reading: Promise<void> = Promise.resolve()

  /** `wake` is called when a reader has room again: then `read` is to be called. */
  constructor({ mailbox, logger, wake }: ForwardingOptions) {
    this.#mailbox = mailbox
    this.#logger = logger
    this.#wake = wake
  }

  /** Whether somebody waits for an answer to this call, or for the rest of it. */
  isOpen(callId: string): boolean {
    return this.#open.has(callId)
  }

  /**
   * What `receiver` answers; `moved` where it has the session no longer. A reader that leaves withdraws the request, as late as it may be on its way. Rejects with
   * `HolderGoneError`, with `NotTakenError` where it was not taken in `beginMs`, and as the database does.
   */
  async ask(receiver: string, command: ForwardedCommand, { signal, beginMs }: AskOptions): Promise<Response | 'moved'> {
    signal.throwIfAborted()
    const callId = crypto.randomUUID()
    const sent = this.#mailbox.send(callId, receiver, command)
    const answer = new AwaitedAnswer({ signal, onRoom: this.#wake, onLeave: () => this.#leave(callId, sent) })
    this.#open.set(callId, answer)
    sent.then(
      () => {
        answer.isSent = true
      },
      (error: unknown) => this.#fail(callId, error),
    )
    const stopTimer = startTimer(beginMs, () => void this.#refuseUntaken(callId))
    return answer.begun.finally(stopTimer)
  }

  /** Takes what has come for those whose readers have room. */
  async read(): Promise<void> {
    const wanted = [...this.#open].filter(([, call]) => call.wantsMore).map(([callId]) => callId)
    if (wanted.length === 0) return
    const parts = this.#mailbox.parts(wanted)
    const reading = parts.then(
      () => undefined,
      () => undefined,
    )
    this.#reading = reading
    for (const part of await parts) this.#take(part)
  }

  /** Tells calls that nobody will answer any more. */
  async tellLost(): Promise<void> {
    const sent = [...this.#open].filter(([, { isSent }]) => isSent).map(([callId]) => callId)
    if (sent.length === 0) return
    const lost = await this.#mailbox.lost(sent)
    // A call is gone from the table once its last part was taken, which may be on its way here.
    await this.#reading
    for (const { callId, wasTaken } of lost) {
      if (!this.#open.has(callId)) continue
      this.#lose(callId, new HolderGoneError(wasTaken))
    }
  }

  /** Nothing is read any more: who still waits is told. */
  end(): void {
    for (const callId of [...this.#open.keys()]) this.#fail(callId, new HolderGoneError(true))
  }

  #take({ callId, at, part }: ReceivedPart): void {
    const answer = this.#open.get(callId)
    // One that was sent twice.
    if (answer === undefined || at < answer.came) return
    const isGap = at > answer.came || (at === 0 && part.head === undefined)
    if (isGap) {
      this.#lose(callId, new HolderGoneError(true))
      return
    }
    if (part.ending === 'whole') this.#close(callId)
    answer.take(part)
    if (part.ending === 'broken') this.#lose(callId, new Error('The answer of the process that has the session broke off. Connect again.'))
  }

  /** Nothing more of it is of use. */
  #lose(callId: string, error: Error): void {
    this.#fail(callId, error)
    this.#withdraw(callId)
  }

  /** What cannot be withdrawn now is later, with the next beat. */
  #withdraw(callId: string): void {
    this.#mailbox.withdraw(callId).catch((error: unknown) => {
      logWarning(this.#logger, 'sessionsUnreachable', { message: String(error) })
    })
  }

  #fail(callId: string, error: unknown): void {
    this.#close(callId)?.fail(error)
  }

  #close(callId: string): AwaitedAnswer | undefined {
    const answer = this.#open.get(callId)
    this.#open.delete(callId)
    return answer
  }

  /** Nobody waits for it any more. What is still on its way is withdrawn once it is there. */
  #leave(callId: string, sent: Promise<void>): void {
    if (this.#close(callId) === undefined) return
    sent.then(
      () => this.#withdraw(callId),
      () => undefined,
    )
  }

  async #refuseUntaken(callId: string): Promise<void> {
    if (this.#open.get(callId)?.came !== 0) return
    try {
      if (await this.#mailbox.withdrawUntaken(callId)) this.#fail(callId, new NotTakenError())
    } catch (error) {
      // It is answered by its deadline.
      logWarning(this.#logger, 'sessionsUnreachable', { message: String(error) })
    }
  }
}
