import { catchLate } from '../../base/abort.ts'
import { logWarning } from '../../base/log-warning.ts'
import { errorText } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { Logger } from '../../types/logger.ts'
import { type EventBody, EventEmitter } from '../event-emitter.ts'
import type { Watches } from '../watches.ts'

/** Emits a parallel loop's events and forwards events from the strategy's loops. Emits nothing after `end`. */
export class ParallelEvents {
  readonly #events: EventEmitter
  readonly #sink: (event: AgentEvent) => void
  readonly #logger: Logger | false | undefined
  #isOpen = true
  /** Watches of the parallel loop. */
  watches: Watches | undefined

  constructor(
    ids: { runId: string; sessionId: string; loopId: string },
    { sink, logger }: { sink: (event: AgentEvent) => void; logger: Logger | false | undefined },
  ) {
    this.#sink = sink
    this.#logger = logger
    this.#events = new EventEmitter(ids, (event) => this.#deliver(event))
  }

  /** Ids of the parallel loop, for its session record. */
  get ids(): { runId: string; loopId: string } {
    const { runId, loopId } = this.#events
    return { runId, loopId }
  }

  /** Emits an event of the parallel loop. Logs errors from the sink. */
  emit(body: EventBody): void {
    if (this.#isOpen) this.#events.emit(body)
  }

  /** Emits the last event. */
  end(body: EventBody): void {
    this.emit(body)
    this.#isOpen = false
  }

  /** Forwards an event from a nested loop. That loop handles errors from the sink. */
  // Return the sink's return value, because the sink may be async and the loop handles its rejection.
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
