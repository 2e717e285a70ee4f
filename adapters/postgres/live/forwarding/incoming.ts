import { type ForwardedCommand, forwardedCommand } from '../../../../src/contract/session/session-command.ts'
import { fits } from '../../../../src/contract/shape/read.ts'
import type { Logger } from '../../../../src/index.ts'
import { deadlineExceeded, ProblemError, problemOf, problemResponse, refuse, requestFor, soonMs } from '../../../http/internal.ts'

/** The response to another process, or `moved` if its session is not here and nothing was done. */
export type Answer = Response | 'moved'

interface IncomingOptions {
  /** The time on the clock that the processes share. */
  now: () => number
  /** Runs the command. `begins` is called right before it and rejects late ones. */
  act: (command: ForwardedCommand, request: Request, begins: () => void) => Promise<Answer>
  logger: Logger | false | undefined
}

/**
 * Handles requests that other processes forward, through the database or over HTTP.
 *
 * **Contract**
 * - Rejects a command that has not begun by its `beginBy` with 504 `deadlineExceeded`, and starts nothing. Runs the same call
 *   once.
 * - Rejects unknown commands with 503, so that clients retry. During a deploy, another process may know them.
 */
export class Incoming {
  readonly #options: IncomingOptions
  /** The last start time of received calls, in order. A duplicate after that is rejected as late. */
  readonly #seen = new Map<string, number>()

  constructor(options: IncomingOptions) {
    this.#options = options
  }

  /** Returns whether this call has arrived and could still begin. */
  isKnown(callId: string): boolean {
    return this.#seen.has(callId)
  }

  /** Never rejects. `left` aborts when nothing waits for the response. */
  async answer(callId: string, command: unknown, left: AbortSignal): Promise<Answer> {
    const { now, act, logger } = this.#options
    try {
      if (!fits(forwardedCommand, command)) refuse(503, 'unavailable', unknownCommand, soonMs)
      const { beginBy = command.deadline } = command
      const begins = (): void => {
        if (now() > Math.min(beginBy, command.deadline)) throw new ProblemError(deadlineExceeded)
      }
      begins()
      this.#once(callId, beginBy)
      return await act(command, requestFor(command, left), begins)
    } catch (error) {
      return problemResponse(problemOf(error, logger))
    }
  }

  #once(callId: string, beginBy: number): void {
    const now = this.#options.now()
    for (const [id, until] of this.#seen) {
      if (until >= now) break
      this.#seen.delete(id)
    }
    if (this.#seen.has(callId)) refuse(503, 'unavailable', 'This request was already forwarded. Retry.', soonMs)
    this.#seen.set(callId, beginBy)
  }
}

const unknownCommand = 'The process that owns the session runs another version and does not know this command. Retry.'
