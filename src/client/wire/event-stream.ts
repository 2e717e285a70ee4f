import { parsedJson } from '../../base/json/json-value.ts'
import { startTimer } from '../../base/timer.ts'
import { errorText } from '../../contract/errors.ts'
import { fieldIn } from '../../contract/json.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import { createSseDecoder } from '../../stream/sse.ts'
import { eventDecoder } from '../../ui/native/event-decoder.ts'
import { RemoteError } from '../remote-error.ts'
import { onSignal } from './connectivity.ts'
import type { NamedMedia } from './named-media.ts'

interface EventStreamOptions {
  idleMs: number
  /**
   * Whether this is the response to a start request. Its first event must arrive promptly. Until then, comments do not reset the timeout.
   */
  beginsRun: boolean
  /** Resolver for media that events reference. */
  media: NamedMedia
  /** The session whose events are accepted. */
  sessionId: string
  /** Aborts the request that the body belongs to. */
  letGo: () => void
  /** Called with each shared-state version that arrives between events. */
  onState: (version: number) => void
}

/**
 * Yields one response's events and their media, in batches that arrived together.
 *
 * **Contract**
 * - `next` resolves with `undefined` at the end. It rejects with `RemoteError` if the response was truncated, contains an invalid event, or
 *   delivers no data for `idleMs`. Comments count as data only after a run has started. A suspended page checks the timeout when it becomes
 *   visible. A network change ends the response immediately.
 * - A truncated event is dropped.
 * - `close` releases the connection, even while `next` is pending. No timer or listener outlives the stream.
 */
export class EventStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder
  readonly #idleMs: number
  readonly #stopSignals: () => void
  #stopTimer: () => void = () => undefined
  #batch: AgentEvent[] = []
  #lastAt = Date.now()
  /** Times out if no required event arrives, even if other data does. */
  #isAwaited: boolean
  /** Whether media are being read, so that reading of the stream is paused. */
  #isFilling = false
  #isClosed = false
  readonly #media: NamedMedia
  readonly #letGo: () => void
  #failure: RemoteError | undefined

  constructor(body: ReadableStream<Uint8Array>, { idleMs, beginsRun, media, sessionId, letGo, onState }: EventStreamOptions) {
    this.#isAwaited = beginsRun
    this.#media = media
    this.#letGo = letGo
    const read = createEventReader(sessionId, onState)
    this.#reader = body.getReader()
    this.#decoder = createSseDecoder((data, name, id) => {
      const event = read(data, name, id)
      if (event !== undefined) this.#batch.push(event)
    })
    this.#idleMs = idleMs
    this.#watch(idleMs)
    this.#stopSignals = onSignal((signal) => (signal === 'online' ? this.#end(newNetwork()) : this.#check()))
  }

  async next(): Promise<AgentEvent[] | undefined> {
    try {
      while (this.#failure === undefined) {
        const { done, value } = await this.#reader.read()
        if (done) break
        this.#decoder.feed(value)
        this.#isAwaited &&= this.#batch.length === 0
        if (!this.#isAwaited) this.#lastAt = Date.now()
        if (this.#batch.length > 0) return await this.#taken()
      }
    } catch (cause) {
      // Return complete events before throwing the error.
      this.#failure = RemoteError.isInstance(cause) ? cause : cut(cause)
      if (this.#batch.length > 0) return this.#taken()
    }
    const failure = this.#failure
    this.close()
    if (failure !== undefined) throw failure
    return undefined
  }

  close(): void {
    this.#isClosed = true
    this.#stopTimer()
    this.#stopSignals()
    this.#reader.cancel().catch(() => undefined)
    // Firefox keeps a cancelled body's connection open until data arrives, and allows only six connections for all tabs.
    this.#letGo()
  }

  #taken(): AgentEvent[] | Promise<AgentEvent[]> {
    const batch = this.#batch
    this.#batch = []
    return batch.some((event) => this.#media.isNamedIn(event)) ? this.#filled(batch) : batch
  }

  async #filled(batch: readonly AgentEvent[]): Promise<AgentEvent[]> {
    const filled: AgentEvent[] = []
    this.#isFilling = true
    try {
      for (const event of batch) {
        // Do not request data after the end.
        if (this.#isClosed) break
        filled.push(await this.#media.inEvent(event))
      }
      return filled
    } finally {
      this.#isFilling = false
      this.#lastAt = Date.now()
    }
  }

  /** Uses one timer for all chunks. The timer checks when the last chunk arrived. */
  #watch(ms: number): void {
    this.#stopTimer = startTimer(ms, () => this.#check())
  }

  #check(): void {
    const restMs = this.#isFilling ? this.#idleMs : this.#idleMs - (Date.now() - this.#lastAt)
    this.#stopTimer()
    if (restMs > 0) this.#watch(restMs)
    else this.#end(stalled(this.#idleMs, this.#isAwaited ? 'no event' : 'not even a ping'))
  }

  #end(failure: RemoteError): void {
    this.#failure ??= failure
    this.close()
  }
}

function cut(cause: unknown): RemoteError {
  return new RemoteError('connectionLost', 'The connection was lost.', { cause, isRetryable: true })
}

function newNetwork(): RemoteError {
  return new RemoteError('connectionLost', 'The network changed.', { isRetryable: true })
}

/** The idle timeout. */
export function stalled(idleMs: number, missed: 'no event' | 'not even a ping' = 'not even a ping'): RemoteError {
  const advice = "Check that no proxy buffers the response, and that the server's pingMs is well below the client's idleTimeoutMs."
  return new RemoteError('stalled', `The stream was silent for ${idleMs} ms: ${missed}. ${advice}`, { isRetryable: true })
}

/** One frame of a stream: its data, its name, and its cursor. */
type ReadFrame = (data: string, name: string | undefined, id: string | undefined) => AgentEvent | undefined

/**
 * Decodes the frames of one stream. Use one reader per stream, because a frame omits fields that equal the previous event's. Returns
 * undefined for a repeated frame.
 *
 * Throws `RemoteError` for an invalid frame. The connection is then reopened after the last valid event.
 */
function createEventReader(sessionId: string, onState: (version: number) => void): ReadFrame {
  const decoder = eventDecoder()
  let [newest, run] = [0, '']
  /** Returns whether the first frame of a stream or run is complete and includes the run. */
  const isOfAnother = (data: string): boolean => ![undefined, run].includes(/"runId":"([^"]*)"/.exec(data)?.[1])
  return (data, name, id) => {
    if (name === 'error') throw cutShort(data)
    if (name === 'sharedState') {
      const version = versionIn(data)
      if (version !== undefined) onState(version)
      return undefined
    }
    // A proxy repeated the frame. Another run starts a new count.
    if (id !== undefined && Number(id) <= newest && !isOfAnother(data)) return undefined
    try {
      const event = decoder.decode(data, id)
      if (event.sessionId !== sessionId) throw new Error('The event belongs to another session.')
      newest = event.seq
      run = event.runId
      return event
    } catch (cause) {
      const advice = 'Check url and any proxy between client and server.'
      throw new RemoteError('unexpectedAnswer', `${errorText(cause)} ${advice}`, { cause, isRetryable: true })
    }
  }
}

/** Returns the shared-state version in a frame, if any. */
function versionIn(data: string): number | undefined {
  const version = fieldIn(parsedJson(data), 'version')
  return typeof version === 'number' && Number.isSafeInteger(version) ? version : undefined
}

/** The server reports that it cannot continue its run for this reader. */
function cutShort(data: string): RemoteError {
  return new RemoteError('connectionLost', `The server ended the stream: ${reasonIn(data)}`, { isRetryable: true })
}

function reasonIn(data: string): string {
  try {
    return errorText(JSON.parse(data))
  } catch {
    return 'it does not say why.'
  }
}
