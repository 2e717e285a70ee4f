import { logWarning } from '../../../../src/base/log-warning.ts'
import { timerMs } from '../../../../src/base/timer.ts'
import type { Logger } from '../../../../src/index.ts'
import type { LiveSession } from '../live-session.ts'

/** A session in memory, and when it is needed. */
export interface InMemory {
  live: LiveSession
  /** Requests that are being answered. */
  asking: number
  /** Epoch ms of the last request. */
  usedAt: number
}

interface IdleOptions<Session> {
  /** Milliseconds without a request after which a session leaves. */
  idleMs: number
  /** Milliseconds without a request or an event after which it keeps no agent. */
  restMs: number
  letGo(key: string, session: Session): Promise<unknown>
  logger: Logger | false | undefined
}

/** Looks after sessions in memory that nobody needs: they rest first, then they leave. One timer for all of them, and none where there is none. */
export class IdleSessions<Session extends InMemory> {
  readonly #sessions: ReadonlyMap<string, Session>
  readonly #options: IdleOptions<Session>
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(sessions: ReadonlyMap<string, Session>, options: IdleOptions<Session>) {
    this.#sessions = sessions
    this.#options = options
  }

  watch(): void {
    if (this.#timer !== undefined || this.#sessions.size === 0) return
    const { idleMs, restMs } = this.#options
    this.#timer = setTimeout(() => void this.#sweep(), timerMs(Math.min(idleMs, restMs)))
    // A process that has nothing else to do may end.
    if (typeof this.#timer === 'object') this.#timer.unref?.()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #sweep(): Promise<void> {
    this.#timer = undefined
    const { idleMs, restMs, letGo } = this.#options
    const now = Date.now()
    for (const [key, session] of [...this.#sessions]) {
      const { usedAt, asking, live } = session
      if (usedAt <= now - idleMs) await letGo(key, session)
      else if (asking === 0 && Math.max(usedAt, live.heardAt) <= now - restMs) this.#rest(live)
    }
    this.watch()
  }

  /** One that hangs holds up itself alone. */
  #rest(live: LiveSession): void {
    live.rest().catch(notReleased(live, this.#options.logger))
  }
}

/** Says in the log that a session was not let go, and why. */
export function notReleased({ sessionId }: LiveSession, logger: Logger | false | undefined): (error: unknown) => void {
  return (error) => logWarning(logger, 'sessionNotReleased', { sessionId, message: String(error) })
}
