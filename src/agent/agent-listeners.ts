import type { AgentEvent } from '../contract/run/event.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction } from '../contract/shape/shape.ts'
import type { RunHandle } from './run-handle.ts'

type Listener = (event: AgentEvent) => void

/** An agent's event listeners, called for every run. */
export class AgentListeners implements Iterable<Listener> {
  readonly #listeners = new Set<Listener>()

  /** Adds `listener`, including to the current run. Returns a function that unsubscribes. */
  add(listener: Listener, run: RunHandle | undefined): () => void {
    checkOptions(listener, aFunction, 'listener')
    let isActive = true
    // A wrapper per call lets the same listener be added twice, and silences it as soon as it unsubscribes.
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
