import { catchLate } from '../base/abort.ts'
import type { AgentEvent } from '../contract/run/event.ts'

interface Subscription {
  readonly listener: (event: AgentEvent) => unknown
  /** Newest `seq` at the time of subscription. Later events are dispatched. */
  readonly since: number
  isActive: boolean
}

/**
 * Dispatches events to listeners.
 *
 * **Contract**
 * - `dispatch` calls every listener synchronously, in subscription order. An event dispatched by a listener is delivered after every
 *   listener has received the current event.
 * - A listener added during a dispatch starts with the next event. A removed listener is not called again.
 * - A listener's errors and rejections are passed to `onError`. Errors thrown by `onError` are ignored.
 */
export class EventListeners {
  readonly #report: (error: unknown) => void
  /** Replaced, never mutated, so that a running dispatch keeps its list. */
  #subscriptions: readonly Subscription[] = []
  #isDispatching = false
  /** Events that listeners have dispatched in the meantime. */
  readonly #backlog: AgentEvent[] = []
  #newest = 0
  // A field, not an assignment in the constructor: V8 would put that function, and the run it references, into its old space.
  readonly #onError = (error: unknown): void => {
    try {
      this.#report(error)
    } catch {
      // A failing logger must not fail the run.
    }
  }

  constructor(onError: (error: unknown) => void) {
    this.#report = onError
  }

  get isEmpty(): boolean {
    return this.#subscriptions.length === 0
  }

  /** Returns a function that unsubscribes. The same function may be added twice. */
  add(listener: (event: AgentEvent) => void): () => void {
    const added: Subscription = { listener, since: this.#newest, isActive: true }
    this.#subscriptions = [...this.#subscriptions, added]
    return () => {
      added.isActive = false
      this.#subscriptions = this.#subscriptions.filter((subscription) => subscription !== added)
    }
  }

  dispatch(event: AgentEvent): void {
    this.#newest = event.seq
    if (this.#subscriptions.length === 0) return
    if (this.#isDispatching) {
      this.#backlog.push(event)
      return
    }
    this.#isDispatching = true
    this.#call(event)
    // The backlog grows while listeners dispatch more events.
    if (this.#backlog.length > 0) {
      for (const later of this.#backlog) this.#call(later)
      this.#backlog.length = 0
    }
    this.#isDispatching = false
  }

  #call(event: AgentEvent): void {
    const subscriptions = this.#subscriptions
    // Loop by index, because this runs once per delta.
    for (let index = 0; index < subscriptions.length; index++) {
      const subscription = subscriptions[index]
      if (subscription === undefined || !subscription.isActive || subscription.since >= event.seq) continue
      try {
        catchLate(subscription.listener(event), this.#onError)
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
