import type { AgentEvent, AgentRun } from '../../../src/index.ts'

/** Notifies readers that follow a session across runs. */
export class RunFollowers {
  readonly #followers = new Set<(run: AgentRun) => void>()
  readonly #ofState = new Set<(version: number) => void>()

  get size(): number {
    return this.#followers.size
  }

  /** Notifies followers of a new run. */
  tell(run: AgentRun | undefined): void {
    if (run === undefined) return
    for (const follower of this.#followers) follower(run)
  }

  /** Notifies followers of a new shared-state version. */
  tellState(version: number): void {
    for (const listener of this.#ofState) listener(version)
  }

  /** Calls `listener` with each version. Returns a function that unsubscribes. */
  onState(listener: (version: number) => void): () => void {
    this.#ofState.add(listener)
    return () => void this.#ofState.delete(listener)
  }

  /** Yields the events of `firstOf`, if any, then those of each later run, until `signal` aborts. */
  async *follow(signal: AbortSignal, firstOf: () => Promise<AsyncIterable<AgentEvent> | undefined>): AsyncGenerator<AgentEvent> {
    const begun: AsyncIterable<AgentEvent>[] = []
    let wake: () => void = () => undefined
    const follower = (run: AgentRun) => {
      begun.push(run)
      wake()
    }
    const stop = () => wake()
    this.#followers.add(follower)
    signal.addEventListener('abort', stop, { once: true })
    try {
      // Call this only after subscribing, so that no run is missed.
      const first = await firstOf()
      if (first !== undefined && !begun.includes(first)) begun.unshift(first)
      while (!signal.aborted) {
        const next = begun.shift()
        if (next !== undefined) yield* next
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      this.#followers.delete(follower)
      signal.removeEventListener('abort', stop)
    }
  }
}
