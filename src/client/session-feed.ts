import type { AgentEvent } from '../contract/run/event.ts'
import { RemoteError } from './remote-error.ts'
import type { EventStream } from './wire/event-stream.ts'
import type { Wire } from './wire/wire.ts'

/** What the feed is read for. */
export interface FeedOwner {
  /** Whether anybody waits for events. */
  readonly isWanted: boolean
  /** Where to read on in the run that is on, if any. */
  cursor(): { loopId: string; after: number } | undefined
  /** Takes one event; a promise where the next must wait. */
  take(event: AgentEvent): Promise<void> | undefined
  /** The feed is open: whatever begins from now on will come. Whether it is the right one; else it is opened anew, after the cursor. */
  opened(): Promise<boolean>
  /** The server has not got these events any more: makes up for them. */
  catchUp(why: RemoteError): Promise<void>
  /** No attempt is made any more. */
  lost(error: RemoteError): void
}

/**
 * Reads the events of a session, over as many connections as it takes, one at a time, as long as somebody waits for them.
 *
 * **Contract**
 * - It reads on after the owner's cursor. A connection that brought something new, or lived long, is no attempt that failed.
 */
export class SessionFeed {
  readonly #wire: Wire
  readonly #owner: FeedOwner
  #stream: EventStream | undefined
  /** The connection that is read is the session's, not that of one run. */
  #isOfSession = false
  /** What a run that has begun sends itself: read before anything else. */
  #own: EventStream | undefined
  #isReading = false
  /** The connection that is open is closed to open another. */
  #isOutdated = false
  #isGivenUp = false
  /** The next connection begins with the oldest events that there are. */
  #isExpired = false
  /** Where the newest event stands that came. */
  #newest: { loopId: string; seq: number } | undefined

  constructor(wire: Wire, owner: FeedOwner) {
    this.#wire = wire
    this.#owner = owner
  }

  /** The connection that brings whatever begins from now on; undefined while there is none. */
  get connection(): EventStream | undefined {
    return this.#isOfSession ? this.#stream : undefined
  }

  /** Reads from now on. */
  read(): void {
    if (!this.#isReading) this.#begin()
  }

  /** As `read`, first what is left of `stream`, which a run that has begun sends; `since` is the connection that there was before it was asked for. */
  readOn(stream: EventStream, since: EventStream | undefined): void {
    // It was open before the run began, so it brings the same.
    if (since !== undefined && this.connection === since) {
      stream.close()
      return
    }
    this.#own?.close()
    this.#own = stream
    if (this.#isReading) this.#stream?.close()
    else this.#begin()
  }

  /** As `read`, over a new connection: what is open may have been opened after the run that is on now was over. */
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
      // Wanted again between the last look and now.
      else if (this.#own !== undefined || !this.#isGivenUp) this.#begin()
    })
  }

  /** Lets the connection go where nobody waits any more. */
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
        // The end of one run's own stream is none of the session's.
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

  /** The connection of the session, after the cursor; undefined where a run sends its own events first. */
  async #open(): Promise<EventStream | undefined> {
    this.#isOutdated = false
    const cursor = this.#owner.cursor()
    const loopId = encodeURIComponent(cursor?.loopId ?? '')
    const path = cursor === undefined ? '/events' : `/events?loopId=${loopId}&after=${cursor.after}`
    const stream = await this.#wire.stream({ method: 'GET', path: this.#isExpired && cursor ? `/runs/${loopId}/events` : path })
    this.#isExpired = false
    this.#stream = stream
    // A run that became known meanwhile may be over: then this connection brings nothing of it.
    this.#isOutdated ||= cursor === undefined && this.#owner.cursor() !== undefined
    if (!this.#isOutdated && (await this.#owner.opened()) && this.#own === undefined) return stream
    stream.close()
    return this.#own === undefined ? this.#open() : undefined
  }

  async #drain(stream: EventStream, onProgress: () => void): Promise<void> {
    // Looked at first: whoever waited may have left while it was opened.
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

  /** Whether it is no event that has come before: one that comes with each connection brings nobody further. */
  #isNew({ loopId, seq }: AgentEvent): boolean {
    if (this.#newest?.loopId === loopId && seq <= this.#newest.seq) return false
    this.#newest = { loopId, seq }
    return true
  }

  /** Whether it goes on. */
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

/** A connection that lived so long was none that failed. */
const longLifeMs = 10_000

function isForgotten({ code }: RemoteError): boolean {
  return code === 'gone' || code === 'cursorExpired' || code === 'notFound'
}
