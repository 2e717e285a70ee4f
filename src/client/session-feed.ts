import type { AgentEvent } from '../types/event.ts'
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
 * - It reads on after the owner's cursor. What makes no difference is not an attempt that failed: a connection that brought something, or lived long.
 */
export class SessionFeed {
  readonly #wire: Wire
  readonly #owner: FeedOwner
  #stream: EventStream | undefined
  #isReading = false
  #isGivenUp = false
  /** The next connection begins with the oldest events that there are. */
  #isExpired = false

  constructor(wire: Wire, owner: FeedOwner) {
    this.#wire = wire
    this.#owner = owner
  }

  /** Reads from now on, first what is left of `stream`; where it reads already, that will bring the same. */
  read(stream?: EventStream): void {
    if (this.#isReading) {
      stream?.close()
      return
    }
    this.#isReading = true
    void this.#read(stream).finally(() => {
      this.#isReading = false
      // Wanted again between the last look and now.
      if (this.#owner.isWanted && !this.#wire.isClosed && !this.#isGivenUp) this.read()
    })
  }

  /** Lets the connection go where nobody waits any more. */
  check(): void {
    if (!this.#owner.isWanted) this.#stream?.close()
  }

  close(): void {
    this.#stream?.close()
  }

  async #read(first: EventStream | undefined): Promise<void> {
    this.#isGivenUp = false
    let stream = first
    let failures = 0
    while (this.#owner.isWanted) {
      const openedAt = Date.now()
      try {
        stream ??= await this.#open()
        this.#stream = stream
        await this.#drain(stream, () => {
          failures = 0
        })
        if (!this.#owner.isWanted) return
        // The end of one run's own stream is none of the session's.
        if (stream === first && this.#owner.cursor() === undefined) continue
        throw new RemoteError('connectionLost', 'The stream ended before the run did.', { isRetryable: true })
      } catch (error) {
        if (!(await this.#recover(error, Date.now() - openedAt > longLifeMs ? 1 : ++failures))) return
      } finally {
        stream?.close()
        stream = undefined
        this.#stream = undefined
      }
    }
  }

  async #open(): Promise<EventStream> {
    const cursor = this.#owner.cursor()
    const loopId = encodeURIComponent(cursor?.loopId ?? '')
    const path = cursor === undefined ? '/events' : `/events?loopId=${loopId}&after=${cursor.after}`
    const stream = await this.#wire.stream({ method: 'GET', path: this.#isExpired && cursor ? `/runs/${loopId}/events` : path })
    this.#isExpired = false
    this.#stream = stream
    if (await this.#owner.opened()) return stream
    stream.close()
    return this.#open()
  }

  async #drain(stream: EventStream, onProgress: () => void): Promise<void> {
    for (let batch = await stream.next(); batch !== undefined; batch = await stream.next()) {
      onProgress()
      for (const event of batch) {
        const wait = this.#owner.take(event)
        if (wait !== undefined) await wait
      }
      if (!this.#owner.isWanted) return
    }
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
