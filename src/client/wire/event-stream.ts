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
  /** It answers what begins a run: its first event comes at once, and until then comments stand for nothing. */
  beginsRun: boolean
  /** What events name. */
  media: NamedMedia
  /** Whose events they are: another session's are not told. */
  sessionId: string
  /** Ends the request that the body answers. */
  letGo: () => void
  /** Called with each version of shared state that it tells of beside events. */
  onState: (version: number) => void
}

/**
 * The events of one answer, with the media that they name, as batches of those that arrived together.
 *
 * **Contract**
 * - `next` resolves with undefined when the answer ended, and rejects with a `RemoteError` when it was cut, holds what is no event, or brings no byte
 *   for `idleMs`, or comments alone where a run is to begin. Once a run is on, comments say that its server has it: how long it may take is the
 *   agent's to limit. A page that was asleep finds that out when it is looked at; a new network ends the answer at once.
 * - What ends in the middle of an event does not bring it.
 * - `close` lets the connection go, also while `next` waits. No timer and no listener outlives the stream.
 */
export class EventStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder
  readonly #idleMs: number
  readonly #stopSignals: () => void
  #stopTimer: () => void = () => undefined
  #batch: AgentEvent[] = []
  #lastAt = Date.now()
  /** No event has come where one has to, whatever else came. */
  #isAwaited: boolean
  /** Media of what came are read, and nothing of the stream. */
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
      // What came whole before the fault counts.
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
    // Firefox keeps the connection of a body that is cancelled until something comes, and it has six of them for all tabs.
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
        // Nobody reads what comes after the end: nothing more is asked for.
        if (this.#isClosed) break
        filled.push(await this.#media.inEvent(event))
      }
      return filled
    } finally {
      this.#isFilling = false
      this.#lastAt = Date.now()
    }
  }

  /** One timer for all chunks: it looks when the last one came. */
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

/** Nothing came for too long. */
export function stalled(idleMs: number, missed: 'no event' | 'not even a ping' = 'not even a ping'): RemoteError {
  const advice =
    'Check that nothing between here and the server collects the answer, and that pingMs there is well below idleTimeoutMs here.'
  return new RemoteError('stalled', `Nothing came for ${idleMs} ms, ${missed}. ${advice}`, { isRetryable: true })
}

/** One frame of a stream: its data, its name, and the cursor beside it. */
type ReadFrame = (data: string, name: string | undefined, id: string | undefined) => AgentEvent | undefined

/**
 * How the frames of one stream become events. One reader for each stream: what equals the event before is left out of a frame. Undefined for a frame
 * that came before.
 *
 * Throws `RemoteError` for a frame that is no event of ours: the connection is then taken up again from the last event that was.
 */
function createEventReader(sessionId: string, onState: (version: number) => void): ReadFrame {
  const decoder = eventDecoder()
  let [newest, run] = [0, '']
  /** The first frame of a stream, or of a run, is whole: it says its run. */
  const isOfAnother = (data: string): boolean => ![undefined, run].includes(/"runId":"([^"]*)"/.exec(data)?.[1])
  return (data, name, id) => {
    if (name === 'error') throw cutShort(data)
    if (name === 'sharedState') {
      const version = versionIn(data)
      if (version !== undefined) onState(version)
      return undefined
    }
    // Somebody on the way has sent it twice. Another run counts anew.
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

/** The version that a frame tells of, if it tells one. */
function versionIn(data: string): number | undefined {
  const version = fieldIn(parsedJson(data), 'version')
  return typeof version === 'number' && Number.isSafeInteger(version) ? version : undefined
}

/** The server says itself that it cannot read its run on for this reader. */
function cutShort(data: string): RemoteError {
  return new RemoteError('connectionLost', `The server cut the stream: ${saidIn(data)}`, { isRetryable: true })
}

function saidIn(data: string): string {
  try {
    return errorText(JSON.parse(data))
  } catch {
    return 'it does not say why.'
  }
}
