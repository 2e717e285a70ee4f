import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { timerMs } from '../../../src/base/timer.ts'
import { type Caller, ProblemError, refuse, shareOf } from '../../http/internal.ts'
import { EventMemory } from './event-memory.ts'
import { McpServing } from './mcp-server.ts'
import type { McpServerOptions } from './offers.ts'

/** How many clients are connected at once. */
export interface McpSessionLimits {
  idleMs: number
  maxSessions: number
  maxSessionsPerCaller: number | undefined
}

interface Session {
  caller: Caller
  serving: McpServing
  transport: WebStandardStreamableHTTPServerTransport
  /** Epoch ms of the last request. */
  usedAt: number
}

/**
 * The connections of one server in this process.
 *
 * **Contract**
 * - A session belongs to the caller that began it: for anybody else there is none of that id.
 * - One that rests, with no call under way, is let go after `idleMs`. Its client begins another, as the protocol wants.
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

  /** The transport that answers for a session. Refuses with 404 for one that this caller does not have. */
  of(sessionId: string, { identity }: Caller): WebStandardStreamableHTTPServerTransport {
    const session = this.#sessions.get(sessionId)
    if (session === undefined || session.caller.identity !== identity) {
      throw new ProblemError({ status: 404, code: 'notFound', detail: 'Session not found. Begin another one with initialize.' })
    }
    session.usedAt = Date.now()
    return session.transport
  }

  /** A transport for a client that begins, before it has its session. Refuses with 429 and 503 where no more may be connected. */
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

  /** Ends all connections, and what runs for them. */
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
      refuse(429, 'tooManySessions', 'As many of your clients are connected as may be at once. Close one.', 5000)
    }
    if (this.#sessions.size >= maxSessions && !(await this.#letOneGo([...this.#sessions]))) {
      refuse(503, 'tooManySessions', 'As many clients are connected as this server takes. Ask again later.', 5000)
    }
  }

  /** Lets the one go that has rested longest, of those for which nothing runs. */
  async #letOneGo(sessions: readonly [string, Session][]): Promise<boolean> {
    const resting = sessions.filter(([, { serving }]) => !serving.isBusy).toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
    const [first] = resting
    if (first === undefined) return false
    await this.#end(first)
    return true
  }

  /** One timer for all of them, and none where there is none. */
  #watch(): void {
    if (this.#timer !== undefined || this.#sessions.size === 0) return
    this.#timer = setTimeout(() => void this.#sweep(), timerMs(this.#limits.idleMs))
    // A process that has nothing else to do may end.
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
