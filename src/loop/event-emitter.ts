import { type AgentMessage, now } from '../contract/message/message.ts'
import type { StreamDelta } from '../contract/model/request.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { EventBase } from '../contract/run/run-facts.ts'

/** An event without the fields that the emitter adds. Distributes over the event union. */
type Unstamped<E> = E extends AgentEvent ? Omit<E, keyof EventBase> : never

/** A run event before the emitter adds its fields. */
export type EventBody = Unstamped<AgentEvent>

/**
 * Adds run, session, loop, cursor and time to events, and passes them to one sink, synchronously and in order.
 *
 * **Contract**: `seq` starts at 1 and has no gaps. Events never change. `at` is the emission time. Deltas that are emitted synchronously,
 * for example from one network chunk, have the same time.
 */
export class EventEmitter {
  readonly runId: string
  readonly sessionId: string
  readonly loopId: string
  readonly #sink: (event: AgentEvent) => void
  #seq = 0
  /** Cached time for the deltas in one network chunk. Reading the clock for each event would be expensive. */
  #chunkAt = 0
  readonly #settled = Promise.resolve()
  readonly #forgetTime = (): void => {
    this.#chunkAt = 0
  }

  constructor(ids: { runId: string; sessionId: string; loopId: string }, sink: (event: AgentEvent) => void) {
    this.runId = ids.runId
    this.sessionId = ids.sessionId
    this.loopId = ids.loopId
    this.#sink = sink
  }

  /** `seq` of the next event. */
  get nextSeq(): number {
    return this.#seq + 1
  }

  /** Emits any event. */
  emit(body: EventBody): void {
    this.#sink({ runId: this.runId, seq: ++this.#seq, at: now(), sessionId: this.sessionId, loopId: this.loopId, ...body })
  }

  /** Emits a `messageUpdate`. Inlined, because it runs once per delta. */
  update(messageId: string, delta: StreamDelta): void {
    if (this.#chunkAt === 0) {
      this.#chunkAt = now()
      this.#settled.then(this.#forgetTime)
    }
    this.#sink({
      runId: this.runId,
      seq: ++this.#seq,
      at: this.#chunkAt,
      sessionId: this.sessionId,
      loopId: this.loopId,
      type: 'messageUpdate',
      messageId,
      delta,
    })
  }

  /** Emits the start and end of a complete message. */
  message(message: AgentMessage): void {
    this.emit({ type: 'messageStart', messageId: message.id, message })
    this.emit({ type: 'messageEnd', messageId: message.id, message })
  }
}
