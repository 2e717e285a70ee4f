import { catchLate } from '../../base/abort.ts'
import { logWarning } from '../../base/log-warning.ts'
import { errorText } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { Logger } from '../../types/logger.ts'
import { type EventBody, EventEmitter } from '../event-emitter.ts'
import type { Watches } from '../watches.ts'

/** The events of a parallel loop as a whole, and the gate that its strategy's loops report through: after `end` nothing comes. */
export class ParallelEvents {
  readonly #events: EventEmitter
  readonly #sink: (event: AgentEvent) => void
  readonly #logger: Logger | false | undefined
  #isOpen = true
  /** Whoever watches the whole from within. */
  watches: Watches | undefined

  constructor(
    ids: { runId: string; sessionId: string; loopId: string },
    { sink, logger }: { sink: (event: AgentEvent) => void; logger: Logger | false | undefined },
  ) {
    this.#sink = sink
    this.#logger = logger
    this.#events = new EventEmitter(ids, (event) => this.#deliver(event))
  }

  /** Of the whole, for its record. */
  get ids(): { runId: string; loopId: string } {
    const { runId, loopId } = this.#events
    return { runId, loopId }
  }

  /** Reports an event of the whole. What the sink throws, or rejects with, is logged. */
  emit(body: EventBody): void {
    if (this.#isOpen) this.#events.emit(body)
  }

  /** Reports the last event. */
  end(body: EventBody): void {
    this.emit(body)
    this.#isOpen = false
  }

  /** Passes on an event of a loop, which catches what the sink throws. */
  // What the sink returns goes back: it may be async all the same, and the loop looks after what it rejects with.
  readonly pass = (event: AgentEvent): void => (this.#isOpen ? this.#sink(event) : undefined)

  warn(event: string, message: string): void {
    logWarning(this.#logger, event, { runId: this.#events.runId, message })
  }

  #deliver(event: AgentEvent): void {
    const failed = (error: unknown) => this.warn('emitFailed', errorText(error))
    this.watches?.event(event)
    try {
      catchLate(this.#sink(event), failed)
    } catch (error) {
      failed(error)
    }
  }
}
