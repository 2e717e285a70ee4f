import type { AgentEvent } from '../contract/run/event.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction } from '../contract/shape/shape.ts'
import type { RunHandle } from './run-handle.ts'

type Listener = (event: AgentEvent) => void

/** Who hears the events of every run of an agent. */
export class AgentListeners implements Iterable<Listener> {
  readonly #listeners = new Set<Listener>()

  /** Adds `listener`, to `run` that is on too; returns how to stop. */
  add(listener: Listener, run: RunHandle | undefined): () => void {
    checkOptions(listener, aFunction, 'listener')
    let isActive = true
    // A function of its own, so that the same listener may be added twice, and a run it was handed to hears no more of it once it stops.
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
