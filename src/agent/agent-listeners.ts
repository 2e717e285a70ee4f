import type { AgentEvent } from '../contract/run/event.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction } from '../contract/shape/shape.ts'
import type { RunHandle } from './run-handle.ts'

type Listener = (event: AgentEvent) => void

/** Listeners of all runs of an agent. */
export class AgentListeners implements Iterable<Listener> {
  readonly #listeners = new Set<Listener>()

  /** Adds `listener`, also to the running run. Returns a function that unsubscribes. */
  add(listener: Listener, run: RunHandle | undefined): () => void {
    checkOptions(listener, aFunction, 'listener')
    let isActive = true
    // A separate function, so that the same listener may be added twice, and stops at once when it unsubscribes.
    const heard = (event: AgentEvent) => (isActive ? listener(event) : undefined)
    this.#listeners.add(heard)
    const stopRun = run?.subscribe(heard)
    return () => {
      isActive = false
      this.#listeners.delete(heard)
      stopRun?.()
    }
  }

  [Symbol.iterator](): Iterator<Listener> {
    return this.#listeners.values()
  }
}
