import { type ForwardedCommand, forwardedCommand } from '../../../../src/contract/session/session-command.ts'
import { fits } from '../../../../src/contract/shape/read.ts'
import type { Logger } from '../../../../src/index.ts'
import { deadlineExceeded, ProblemError, problemOf, problemResponse, refuse, requestFor, soonMs } from '../../../http/internal.ts'

/** The answer to a request of another process; `moved` where its session is not here, and nothing was done. */
export type Answer = Response | 'moved'

interface IncomingOptions {
  /** The time by the clock that the processes share. */
  now: () => number
  /** Does what is asked. `begins` is called right before, and refuses what comes too late. */
  act: (command: ForwardedCommand, request: Request, begins: () => void) => Promise<Answer>
  logger: Logger | false | undefined
}

/**
 * What other processes have passed on, whichever way it came.
 *
 * **Contract**
 * - What is not begun by its `beginBy` is refused with 504 `deadlineExceeded`, and nothing is begun. The same call is done once.
 * - What is no command of this version is refused with 503, so that its client asks again: while a deploy goes on, another process may know it.
 */
export class Incoming {
  readonly #options: IncomingOptions
  /** Until when calls that came could be begun, in their order. One that comes again after that is too late. */
  readonly #seen = new Map<string, number>()

  constructor(options: IncomingOptions) {
    this.#options = options
  }

  /** Whether this call came, and could be begun still. */
  isKnown(callId: string): boolean {
    return this.#seen.has(callId)
  }

  /** Never rejects. `left` aborts where nobody waits for the answer any more. */
  async answer(callId: string, said: unknown, left: AbortSignal): Promise<Answer> {
    const { now, act, logger } = this.#options
    try {
      if (!fits(forwardedCommand, said)) refuse(503, 'unavailable', unknownCommand, soonMs)
      const { beginBy = said.deadline } = said
      const begins = (): void => {
        if (now() > Math.min(beginBy, said.deadline)) throw new ProblemError(deadlineExceeded)
      }
      begins()
      this.#once(callId, beginBy)
      return await act(said, requestFor(said, left), begins)
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
    if (this.#seen.has(callId)) refuse(503, 'unavailable', 'This request was passed on before. Ask again.', soonMs)
    this.#seen.set(callId, beginBy)
  }
}

const unknownCommand = 'The process that has the session does not know what was asked: it is of another version. Ask again.'
