import type { AgentEvent } from '../contract/run/event.ts'
import { RemoteError } from './remote-error.ts'
import type { EventStream } from './wire/event-stream.ts'
import type { Wire } from './wire/wire.ts'

/** Callbacks to the session that reads a feed. */
export interface FeedOwner {
  /** Whether the owner is waiting for events. */
  readonly isWanted: boolean
  /** Returns the cursor in the current run, if any. */
  cursor(): { loopId: string; after: number } | undefined
  /** Processes one event. Returns a promise if the next event must wait. */
  take(event: AgentEvent): Promise<void> | undefined
  /**
   * Called when the feed is open and will deliver later runs. Returns whether the feed starts at the right cursor. Otherwise it is
   * reopened.
   */
  opened(): Promise<boolean>
  /** Called if the server no longer has the events, so that the owner rebuilds them. */
  catchUp(why: RemoteError): Promise<void>
  /** Called when all reconnection attempts have failed. */
  lost(error: RemoteError): void
}

/**
 * Reads a session's events while the owner needs them, over one connection at a time.
 *
 * **Contract**
 * - The feed continues after the owner's cursor. A connection that delivered new events, or lasted long enough, does not count as a
 *   failure.
 */
export class SessionFeed {
  readonly #wire: Wire
  readonly #owner: FeedOwner
  #stream: EventStream | undefined
  /** Whether the connection delivers the whole session instead of one run. */
  #isOfSession = false
  /** Event stream of a start request, which is read first. */
  #own: EventStream | undefined
  #isReading = false
  /** Whether the current connection must be replaced. */
  #isOutdated = false
  #isGivenUp = false
  /** Whether the next connection starts from the oldest events. */
  #isExpired = false
  /** The latest cursor. */
  #newest: { loopId: string; seq: number } | undefined

  constructor(wire: Wire, owner: FeedOwner) {
    this.#wire = wire
    this.#owner = owner
  }

  /** The connection that delivers new runs, if any. */
  get connection(): EventStream | undefined {
    return this.#isOfSession ? this.#stream : undefined
  }

  /** Starts reading. */
  read(): void {
    if (!this.#isReading) this.#begin()
  }

  /**
   * Starts reading, beginning with the rest of a start request's `stream`. `since` is the connection that was open before the request.
   */
  readOn(stream: EventStream, since: EventStream | undefined): void {
    // The connection was open before the run started, so it delivers the same events.
    if (since !== undefined && this.connection === since) {
      stream.close()
      return
    }
    this.#own?.close()
    this.#own = stream
    if (this.#isReading) this.#stream?.close()
    else this.#begin()
  }

  /** Starts reading over a new connection, because the current one may have been opened after the run ended. */
  reopen(): void {
    this.#isOutdated = true
    if (this.#isReading) this.#stream?.close()
    else this.#begin()
  }

  #begin(): void {
    this.#isReading = true
    void this.#read().finally(() => {
      this.#isReading = false
      if (!this.#owner.isWanted || this.#wire.isClosed) this.close()
      // Stay open if the owner has started waiting for events again.
      else if (this.#own !== undefined || !this.#isGivenUp) this.#begin()
    })
  }

  /** Closes the connection if no events are awaited. */
  check(): void {
    if (!this.#owner.isWanted) this.#stream?.close()
  }

  close(): void {
    this.#stream?.close()
    this.#own?.close()
    this.#own = undefined
  }

  async #read(): Promise<void> {
    this.#isGivenUp = false
    let failures = 0
    while (this.#owner.isWanted) {
      const openedAt = Date.now()
      const own = this.#own
      this.#own = undefined
      let stream = own
      try {
        this.#isOfSession = own === undefined
        this.#stream = own
        stream ??= await this.#open()
        if (stream === undefined) continue
        await this.#drain(stream, () => {
          failures = 0
        })
        if (!this.#owner.isWanted) return
        if (this.#own !== undefined || this.#isOutdated) continue
        // The end of a run's own stream does not end the session's feed.
        if (own !== undefined && this.#owner.cursor() === undefined) continue
        throw new RemoteError('connectionLost', 'The stream ended before the run did.', { isRetryable: true })
      } catch (error) {
        if (!(await this.#recover(error, Date.now() - openedAt > longLifeMs ? 1 : ++failures))) return
      } finally {
        stream?.close()
        this.#stream = undefined
      }
    }
  }

  /** Returns the session's connection after the cursor, or `undefined` if a run delivers its own events first. */
  async #open(): Promise<EventStream | undefined> {
    this.#isOutdated = false
    const cursor = this.#owner.cursor()
    const loopId = encodeURIComponent(cursor?.loopId ?? '')
    const path = cursor === undefined ? '/events' : `/events?loopId=${loopId}&after=${cursor.after}`
    const stream = await this.#wire.stream({ method: 'GET', path: this.#isExpired && cursor ? `/runs/${loopId}/events` : path })
    this.#isExpired = false
    this.#stream = stream
    // A run that became known in the meantime may already have ended, and this connection would deliver none of its events.
    this.#isOutdated ||= cursor === undefined && this.#owner.cursor() !== undefined
    if (!this.#isOutdated && (await this.#owner.opened()) && this.#own === undefined) return stream
    stream.close()
    return this.#own === undefined ? this.#open() : undefined
  }

  async #drain(stream: EventStream, onProgress: () => void): Promise<void> {
    // Checked first, because the reader may have stopped while the connection was opening.
    while (this.#owner.isWanted) {
      const batch = await stream.next()
      if (batch === undefined) return
      for (const event of batch) {
        if (this.#isNew(event)) onProgress()
        const wait = this.#owner.take(event)
        if (wait !== undefined) await wait
      }
    }
  }

  /** Returns whether an event is new. Events that every connection repeats do not count as progress. */
  #isNew({ loopId, seq }: AgentEvent): boolean {
    if (this.#newest?.loopId === loopId && seq <= this.#newest.seq) return false
    this.#newest = { loopId, seq }
    return true
  }

  /** Returns whether reading continues. */
  async #recover(error: unknown, failures: number): Promise<boolean> {
    try {
      await this.#makeUp(error, failures)
      return true
    } catch (final) {
      this.#isGivenUp = true
      this.#owner.lost(RemoteError.isInstance(final) ? final : new RemoteError('connectionLost', String(final), { cause: final }))
      return false
    }
  }

  async #makeUp(error: unknown, failures: number): Promise<void> {
    if (!RemoteError.isInstance(error) || this.#owner.cursor() === undefined || !isForgotten(error))
      return this.#wire.pause(failures, error)
    try {
      await this.#owner.catchUp(error)
      this.#isExpired = error.code === 'cursorExpired'
    } catch (again) {
      await this.#wire.pause(failures, again)
    }
  }
}

/** A connection that lasted this long does not count as a failure. */
const longLifeMs = 10_000

function isForgotten({ code }: RemoteError): boolean {
  return code === 'gone' || code === 'cursorExpired' || code === 'notFound'
}
