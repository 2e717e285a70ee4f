import { logWarning } from '../../../../src/base/log-warning.ts'
import { startTimer } from '../../../../src/base/timer.ts'
import type { ForwardedCommand } from '../../../../src/contract/session/session-command.ts'
import type { Logger } from '../../../../src/index.ts'
import { AwaitedAnswer } from './awaited-answer.ts'
import type { Mailbox, ReceivedPart } from './mailbox.ts'

/** The process that owned the session has crashed. */
export class OwnerLostError extends Error {
  /** Whether the process may have started the request. */
  readonly wasTaken: boolean

  constructor(wasTaken: boolean) {
    super('The process that served this session has ended.')
    this.name = 'OwnerLostError'
    this.wasTaken = wasTaken
  }
}

/** No process took a request in time, and none will. */
export class NotTakenError extends Error {
  constructor() {
    super('The process that owns this session did not accept the request before the deadline.')
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
  /** Milliseconds within which a process must take the request. */
  beginMs: number
}

/** Forwards commands through the database and reads the responses of other processes. */
export class Forwarding {
  readonly #mailbox: Mailbox
  readonly #logger: Logger | false | undefined
  readonly #wake: () => void
  readonly #open = new Map<string, AwaitedAnswer>()
  #reading: Promise<void> = Promise.resolve()

  /** `wake` is called when a reader has room again. Call `read` then. */
  constructor({ mailbox, logger, wake }: ForwardingOptions) {
    this.#mailbox = mailbox
    this.#logger = logger
    this.#wake = wake
  }

  /** Returns whether a caller waits for a response, or for the rest of it. */
  isOpen(callId: string): boolean {
    return this.#open.has(callId)
  }

  /**
   * Returns the response from `receiver`, or `moved` if it no longer owns the session. A reader that disconnects withdraws the
   * request, even while it is in flight. Rejects with `OwnerLostError`, with `NotTakenError` if it was not taken within
   * `beginMs`, and as the database does.
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

  /** Reads new parts for readers with room. */
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

  /** Rejects calls whose process has crashed. */
  async tellLost(): Promise<void> {
    const sent = [...this.#open].filter(([, { isSent }]) => isSent).map(([callId]) => callId)
    if (sent.length === 0) return
    const lost = await this.#mailbox.lost(sent)
    // Reading the last part deletes a call, and that part may still be on its way here.
    await this.#reading
    for (const { callId, wasTaken } of lost) {
      if (!this.#open.has(callId)) continue
      this.#lose(callId, new OwnerLostError(wasTaken))
    }
  }

  /** Stops reading and rejects open calls. */
  end(): void {
    for (const callId of [...this.#open.keys()]) this.#fail(callId, new OwnerLostError(true))
  }

  #take({ callId, at, part }: ReceivedPart): void {
    const answer = this.#open.get(callId)
    // A duplicate part.
    if (answer === undefined || at < answer.came) return
    const isGap = at > answer.came || (at === 0 && part.head === undefined)
    if (isGap) {
      this.#lose(callId, new OwnerLostError(true))
      return
    }
    if (part.ending === 'whole') this.#close(callId)
    answer.take(part)
    if (part.ending === 'broken') this.#lose(callId, new Error('Lost the connection to the process that owns the session. Reconnect.'))
  }

  /** Rejects a call and drops the rest of its response. */
  #lose(callId: string, error: Error): void {
    this.#fail(callId, error)
    this.#withdraw(callId)
  }

  /** Failed withdrawals are retried with the next heartbeat. */
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

  /** Abandons a call. A request in flight is withdrawn once it is stored. */
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
      // The call rejects at its deadline.
      logWarning(this.#logger, 'sessionsUnreachable', { message: String(error) })
    }
  }
}
