import { startTimer } from '../../../../src/base/timer.ts'
import type { ForwardedCommand } from '../../../../src/contract/session/session-command.ts'
import type { Logger } from '../../../../src/index.ts'
import { deadlineExceeded, ProblemError, refuse, soonMs } from '../../../http/internal.ts'
import type { Holder, SessionLeases } from '../session-leases.ts'
import { Forwarding, NotTakenError, OwnerLostError } from './forward.ts'
import type { Answer } from './incoming.ts'
import type { Mailbox } from './mailbox.ts'
import type { Peers } from './peers.ts'

interface PassingOnOptions {
  mailbox: Mailbox
  leases: SessionLeases
  /** HTTP between processes, if configured. */
  peers: Peers | undefined
  logger: Logger | false | undefined
  /** Called when a reader has room again. Call `read` then. */
  wake: () => void
}

/**
 * Forwards commands to the process that owns their session: over HTTP if it is reachable, otherwise through the database.
 *
 * **Contract**
 * - The caller gets a response by the command's deadline. Only a stream that has begun continues after it.
 */
export class PassingOn {
  readonly #options: PassingOnOptions
  readonly #forwarding: Forwarding

  constructor(options: PassingOnOptions) {
    this.#options = options
    this.#forwarding = new Forwarding(options)
  }

  /**
   * Returns the response from `holder`. Throws `ProblemError` 504 after a deadline. Throws 503 if no process took the command in time, or
   * if the owner crashed and may have run it.
   */
  async pass(holder: Holder, command: ForwardedCommand, signal: AbortSignal): Promise<Answer> {
    const now = this.#options.leases.now()
    const { deadline, beginBy = deadline } = command
    if (now >= Math.min(beginBy, deadline)) throw new ProblemError(deadlineExceeded)
    // Not `AbortSignal.any`, whose result could be collected while a response streams.
    const ended = new AbortController()
    const leave = (): void => ended.abort(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    const stopTimer = startTimer(deadline - now, () => ended.abort(new ProblemError(deadlineExceeded)))
    try {
      return await this.#ask(holder, command, { signal: ended.signal, beginMs: beginBy - now })
    } catch (error) {
      if (error instanceof NotTakenError) refuse(503, 'unavailable', notTaken, soonMs)
      if (!(error instanceof OwnerLostError)) throw error
      if (!error.wasTaken || command.command.type === 'read') return 'moved'
      refuse(503, 'unavailable', ownerLost, soonMs)
    } finally {
      stopTimer()
    }
  }

  /** Reads new parts from the database. */
  read(): Promise<void> {
    return this.#forwarding.read()
  }

  /** Rejects calls to crashed processes. */
  async tellLost(): Promise<void> {
    const { leases, mailbox, peers } = this.#options
    await this.#forwarding.tellLost()
    await mailbox.sweep()
    // Calls whose withdrawal failed. Read first, so that each is either open or abandoned.
    for (const callId of await mailbox.sent()) if (!this.#forwarding.isOpen(callId)) await mailbox.withdraw(callId)
    if (peers === undefined || peers.asked.length === 0) return
    for (const processId of await leases.expiredAmong(peers.asked)) peers.failCallsTo(processId)
  }

  /** Stops reading and rejects open calls. */
  end(): void {
    const { peers } = this.#options
    this.#forwarding.end()
    for (const processId of peers?.asked ?? []) peers?.failCallsTo(processId)
  }

  async #ask(holder: Holder, command: ForwardedCommand, options: { signal: AbortSignal; beginMs: number }): Promise<Answer> {
    const answer = await this.#options.peers?.ask(holder, command, options.signal)
    return answer === undefined || answer === 'unreached' ? this.#forwarding.ask(holder.processId, command, options) : answer
  }
}

const notTaken = 'The process that owns the session did not accept the request before the deadline. Nothing ran: retry.'
const ownerLost =
  'The process that owned the session ended, or its response was lost. Retry with the same Idempotency-Key; the request runs once.'
