import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { timerMs } from '../../../src/base/timer.ts'
import { type Caller, ProblemError, refuse, shareOf } from '../../http/internal.ts'
import { EventMemory } from './event-memory.ts'
import { McpServing } from './mcp-server.ts'
import type { McpServerOptions } from './offers.ts'

/** Limits for concurrent clients. */
export interface McpSessionLimits {
  idleMs: number
  maxSessions: number
  maxSessionsPerCaller: number | undefined
}

interface Session {
  caller: Caller
  serving: McpServing
  transport: WebStandardStreamableHTTPServerTransport
  /** Epoch milliseconds of the last request. */
  usedAt: number
}

/**
 * A server's sessions in this process.
 *
 * **Contract**
 * - A session belongs to the caller that created it. Other callers get 404.
 * - An idle session without active calls is evicted after `idleMs`. Its client then starts another one, as the protocol requires.
 */
export class McpSessions {
  readonly #options: McpServerOptions
  readonly #limits: McpSessionLimits
  readonly #sessions = new Map<string, Session>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: McpServerOptions, limits: McpSessionLimits) {
    this.#options = options
    this.#limits = limits
  }

  /** Returns the transport of a session. Rejects with 404 if it does not belong to this caller. */
  of(sessionId: string, { identity }: Caller): WebStandardStreamableHTTPServerTransport {
    const session = this.#sessions.get(sessionId)
    if (session === undefined || session.caller.identity !== identity) {
      throw new ProblemError({ status: 404, code: 'notFound', detail: 'Session not found. Start a new session with initialize.' })
    }
    session.usedAt = Date.now()
    return session.transport
  }

  /** Creates a transport for a client without a session. Rejects with 429 and 503 at the limits. */
  async begin(caller: Caller): Promise<WebStandardStreamableHTTPServerTransport> {
    await this.#makeRoom(caller)
    const serving = new McpServing(this.#options, caller)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (sessionId) => {
        this.#sessions.set(sessionId, { caller, serving, transport, usedAt: Date.now() })
        this.#watch()
      },
      onsessionclosed: (sessionId) => void this.#sessions.delete(sessionId),
      eventStore: new EventMemory(),
    })
    await serving.server.connect(transport)
    return transport
  }

  /** Closes all connections and stops their calls. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const all = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(all.map(({ serving }) => serving.server.close()))
  }

  async #makeRoom(caller: Caller): Promise<void> {
    const { maxSessions, maxSessionsPerCaller } = this.#limits
    const own = [...this.#sessions].filter(([, session]) => session.caller.identity === caller.identity)
    if (own.length >= shareOf(caller, maxSessionsPerCaller) && !(await this.#letOneGo(own))) {
      refuse(429, 'tooManySessions', 'Your limit of connected clients is reached. Close one.', 5000)
    }
    if (this.#sessions.size >= maxSessions && !(await this.#letOneGo([...this.#sessions]))) {
      refuse(503, 'tooManySessions', "The server's limit of connected clients is reached. Retry later.", 5000)
    }
  }

  /** Evicts the least recently used session without active calls. */
  async #letOneGo(sessions: readonly [string, Session][]): Promise<boolean> {
    const resting = sessions.filter(([, { serving }]) => !serving.isBusy).toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
    const [first] = resting
    if (first === undefined) return false
    await this.#end(first)
    return true
  }

  /** Starts the timer, unless it is already running or there are no sessions. All sessions share one timer. */
  #watch(): void {
    if (this.#timer !== undefined || this.#sessions.size === 0) return
    this.#timer = setTimeout(() => void this.#sweep(), timerMs(this.#limits.idleMs))
    // The timer must not keep an idle process alive.
    if (typeof this.#timer === 'object') this.#timer.unref?.()
  }

  async #sweep(): Promise<void> {
    this.#timer = undefined
    const limit = Date.now() - this.#limits.idleMs
    for (const entry of [...this.#sessions]) {
      const [, { usedAt, serving }] = entry
      if (usedAt <= limit && !serving.isBusy) await this.#end(entry)
    }
    this.#watch()
  }

  async #end([sessionId, { serving }]: [string, Session]): Promise<void> {
    this.#sessions.delete(sessionId)
    await serving.server.close()
  }
}
