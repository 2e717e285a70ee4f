import { catchLate } from '../../base/abort.ts'
import { logWarning } from '../../base/log-warning.ts'
import { errorText } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { Logger } from '../../types/logger.ts'
import { type EventBody, EventEmitter } from '../event-emitter.ts'
import type { Watches } from '../watches.ts'

/** Events of a parallel loop as a whole, and the gate for events of its strategy's loops: nothing is emitted after `end`. */
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

  /** Ids of the parallel loop, for its record. */
  get ids(): { runId: string; loopId: string } {
    const { runId, loopId } = this.#events
    return { runId, loopId }
  }

  /** Emits an event of the parallel loop. Errors of the sink are logged. */
  emit(body: EventBody): void {
    if (this.#isOpen) this.#events.emit(body)
  }

  /** Emits the last event. */
  end(body: EventBody): void {
    this.emit(body)
    this.#isOpen = false
  }

  /** Forwards an event of a nested loop, which handles errors of the sink. */
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
