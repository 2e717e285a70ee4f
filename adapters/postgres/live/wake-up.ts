import { startTimer } from '../../../src/base/timer.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { withMethods } from '../../../src/contract/shape/shape.ts'

/**
 * Listens for database notifications. Calls `heard` with each notification's channel and text. Calls it without a text after a gap in which
 * notifications may have been lost.
 *
 * **Contract**
 * - Resolves once it listens, with a function that stops it.
 * - Never throws afterwards, because it reconnects by itself.
 *
 * Source: docs/guides/choose-a-store.md
 */
export type SqlListen = (channels: readonly string[], heard: (channel: string, text?: string) => void) => Promise<() => Promise<void>>

/** A dedicated connection, as returned by the `connect` method of a `Pool` from `pg`. */
export interface ListeningClient {
  query(text: string): Promise<unknown>
  on(event: 'notification', heard: (message: { channel: string; payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', lost: () => void): unknown
  /** With `true`, the connection is closed instead of reused. */
  release(isBroken?: boolean): void
}

/** A source of such connections, such as a `Pool` from `pg`. */
export interface ListeningPool {
  connect(): Promise<ListeningClient>
}

/** Maximum reconnect backoff in milliseconds. */
const longestGapMs = 5000
const shortestGapMs = 100

/**
 * Listens on one connection, which it takes from `pool` and keeps. The connection must reach the database itself, not a pooler in
 * transaction mode.
 *
 * Source: docs/guides/choose-a-store.md
 */
export function listenWith(pool: ListeningPool): SqlListen {
  checkOptions(pool, withMethods('a pool', 'connect'), 'pool')
  return async (channels, heard) => {
    const line = new ListeningLine(pool, channels, heard)
    await line.connect()
    return () => line.close()
  }
}

class ListeningLine {
  readonly #pool: ListeningPool
  readonly #channels: readonly string[]
  readonly #heard: (channel: string, text?: string) => void
  #client: ListeningClient | undefined
  #isClosed = false
  #stopTimer: () => void = () => undefined
  #waitMs = shortestGapMs

  constructor(pool: ListeningPool, channels: readonly string[], heard: (channel: string, text?: string) => void) {
    this.#pool = pool
    this.#channels = channels
    this.#heard = heard
  }

  async connect(): Promise<void> {
    const client = await this.#pool.connect()
    const lost = () => this.#lose(client)
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ channel, payload }) => this.#heard(channel, payload))
    this.#client = client
    try {
      for (const channel of this.#channels) await client.query(`LISTEN ${channel}`)
    } catch (error) {
      this.#drop(client)
      throw error
    }
    this.#waitMs = shortestGapMs
    if (this.#isClosed) this.#drop(client)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopTimer()
    if (this.#client !== undefined) this.#drop(this.#client)
  }

  #lose(client: ListeningClient): void {
    if (this.#client !== client) return
    this.#drop(client)
    if (!this.#isClosed) this.#connectLater()
  }

  /** A connection that listened is closed, because its next user would get the notifications. */
  #drop(client: ListeningClient): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.release(true)
  }

  #connectLater(): void {
    this.#stopTimer = startTimer(this.#waitMs * (1 + Math.random() / 4), () => {
      this.#waitMs = Math.min(this.#waitMs * 2, longestGapMs)
      this.connect().then(
        () => this.#tellGap(),
        () => {
          if (!this.#isClosed) this.#connectLater()
        },
      )
    })
  }

  #tellGap(): void {
    for (const channel of this.#channels) this.#heard(channel)
  }
}
