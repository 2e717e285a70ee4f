import { logWarning } from '../../../../src/base/log-warning.ts'
import { timerMs } from '../../../../src/base/timer.ts'
import type { Logger } from '../../../../src/index.ts'
import type { LiveSession } from '../live-session.ts'

/** A session in memory and the time of its last use. */
export interface InMemory {
  live: LiveSession
  /** Active requests. */
  asking: number
  /** Epoch milliseconds of the last request. */
  usedAt: number
}

interface IdleOptions<Session> {
  /** Milliseconds without a request until a session is evicted. */
  idleMs: number
  /** Milliseconds without a request or an event until its agent is released. */
  restMs: number
  letGo(key: string, session: Session): Promise<unknown>
  logger: Logger | false | undefined
}

/**
 * Evicts idle sessions in two steps: first releases the agent, then the session. Uses one timer for all sessions, and no timer if there are
 * no sessions.
 */
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
    // Let an idle process exit.
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

  /** Releases a session's agent without waiting, so that one session cannot delay the others. */
  #rest(live: LiveSession): void {
    live.rest().catch(notReleased(live, this.#options.logger))
  }
}

/** Logs the reason why a session was not released. */
export function notReleased({ sessionId }: LiveSession, logger: Logger | false | undefined): (error: unknown) => void {
  return (error) => logWarning(logger, 'sessionNotReleased', { sessionId, message: String(error) })
}
