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
  /** Whether it responds to a start request: its first event must come at once, and comments do not count until then. */
  beginsRun: boolean
  /** Media that events name. */
  media: NamedMedia
  /** The session whose events are accepted. */
  sessionId: string
  /** Aborts the request of the body. */
  letGo: () => void
  /** Called with each version of shared state between events. */
  onState: (version: number) => void
}

/**
 * Yields the events of one response with their media, as batches that arrived together.
 *
 * **Contract**
 * - `next` resolves with undefined at the end, and rejects with a `RemoteError` if the response was cut, has an invalid event, or delivers no
 *   byte for `idleMs` (before a run starts: only comments). During a run, comments keep it alive; the agent limits its duration. A page that
 *   was suspended detects this when it becomes visible; a new network ends the response at once.
 * - A truncated event is dropped.
 * - `close` releases the connection, also while `next` waits. No timer and no listener outlives the stream.
 */
export class EventStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder
  readonly #idleMs: number
  readonly #stopSignals: () => void
  #stopTimer: () => void = () => undefined
  #batch: AgentEvent[] = []
  #lastAt = Date.now()
  /** No required event has arrived, despite other data. */
  #isAwaited: boolean
  /** Media are being read, and the stream is not. */
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
      // Complete events before the fault count.
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
    // Firefox keeps the connection of a cancelled body until data arrives, and has only six for all tabs.
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
        // Data after the end is not requested.
        if (this.#isClosed) break
        filled.push(await this.#media.inEvent(event))
      }
      return filled
    } finally {
      this.#isFilling = false
      this.#lastAt = Date.now()
    }
  }

  /** One timer for all chunks: it checks when the last one arrived. */
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
  return new RemoteError('connectionLost', 'The connection was cut.', { cause, isRetryable: true })
}

function newNetwork(): RemoteError {
  return new RemoteError('connectionLost', 'The network has changed.', { isRetryable: true })
}

/** The idle timeout. */
export function stalled(idleMs: number, missed: 'no event' | 'not even a ping' = 'not even a ping'): RemoteError {
  const advice =
    'Check that nothing between here and the server collects the answer, and that pingMs there is well below idleTimeoutMs here.'
  return new RemoteError('stalled', `Nothing came for ${idleMs} ms, ${missed}. ${advice}`, { isRetryable: true })
}

/** One frame of a stream: its data, its name, and its cursor. */
type ReadFrame = (data: string, name: string | undefined, id: string | undefined) => AgentEvent | undefined

/**
 * Decodes the frames of one stream. Use one reader per stream, because a frame omits fields that equal the previous event's. Returns undefined
 * for a repeated frame.
 *
 * Throws `RemoteError` for an invalid frame: the connection is then reopened after the last valid event.
 */
function createEventReader(sessionId: string, onState: (version: number) => void): ReadFrame {
  const decoder = eventDecoder()
  let [newest, run] = [0, '']
  /** Whether the first frame of a stream or a run is complete, with its run. */
  const isOfAnother = (data: string): boolean => ![undefined, run].includes(/"runId":"([^"]*)"/.exec(data)?.[1])
  return (data, name, id) => {
    if (name === 'error') throw cutShort(data)
    if (name === 'sharedState') {
      const version = versionIn(data)
      if (version !== undefined) onState(version)
      return undefined
    }
    // A proxy has repeated it. Another run starts a new count.
    if (id !== undefined && Number(id) <= newest && !isOfAnother(data)) return undefined
    try {
      const event = decoder.decode(data, id)
      if (event.sessionId !== sessionId) throw new Error('An event of another session came.')
      newest = event.seq
      run = event.runId
      return event
    } catch (cause) {
      const advice = 'Check url, and what stands between here and the server.'
      throw new RemoteError('unexpectedAnswer', `${errorText(cause)} ${advice}`, { cause, isRetryable: true })
    }
  }
}

/** Returns the version of a frame, if it has one. */
function versionIn(data: string): number | undefined {
  const version = fieldIn(parsedJson(data), 'version')
  return typeof version === 'number' && Number.isSafeInteger(version) ? version : undefined
}

/** The server reports that it cannot continue its run for this reader. */
function cutShort(data: string): RemoteError {
  return new RemoteError('connectionLost', `The server cut the stream: ${reasonIn(data)}`, { isRetryable: true })
}

function reasonIn(data: string): string {
  try {
    return errorText(JSON.parse(data))
  } catch {
    return 'it does not say why.'
  }
}
