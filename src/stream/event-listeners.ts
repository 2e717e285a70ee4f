import { catchLate } from '../base/abort.ts'
import type { AgentEvent } from '../contract/run/event.ts'

interface Subscription {
  readonly listener: (event: AgentEvent) => unknown
  /** Newest `seq` when it was added: it hears what comes after. */
  readonly since: number
  isActive: boolean
}

/**
 * Functions that are called with each event.
 *
 * **Contract**
 * - `dispatch` calls every listener synchronously, in the order they were added; an event dispatched by a listener follows when all have
 *   heard the present one.
 * - A listener added during a dispatch hears the next event first; one removed is not called again.
 * - What a listener throws or, being async, rejects with goes to `onError`; what that throws is ignored.
 */
export class EventListeners {
  readonly #report: (error: unknown) => void
  /** Replaced, never changed, so that a dispatch under way keeps its own list. */
  #subscriptions: readonly Subscription[] = []
  #isDispatching = false
  /** Events dispatched by listeners meanwhile. */
  readonly #backlog: AgentEvent[] = []
  #newest = 0
  // A field, not an assignment: a function that is written behind `this.x =` goes into V8's old space, and what it refers to with it, here a whole run.
  readonly #onError = (error: unknown): void => {
    try {
      this.#report(error)
    } catch {
      // Nobody is left to tell, and a run does not fail over its log.
    }
  }

  constructor(onError: (error: unknown) => void) {
    this.#report = onError
  }

  get isEmpty(): boolean {
    return this.#subscriptions.length === 0
  }

  /** Returns how to remove the listener; the same function may be added twice. */
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
    // Grows while listeners dispatch more.
    if (this.#backlog.length > 0) {
      for (const later of this.#backlog) this.#call(later)
      this.#backlog.length = 0
    }
    this.#isDispatching = false
  }

  #call(event: AgentEvent): void {
    const subscriptions = this.#subscriptions
    // By position, because this runs once per delta.
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
