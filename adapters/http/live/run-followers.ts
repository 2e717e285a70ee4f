import type { AgentEvent, AgentRun } from '../../../src/index.ts'

/** Who follows a session from run to run. */
export class RunFollowers {
  readonly #followers = new Set<(run: AgentRun) => void>()
  readonly #ofState = new Set<(version: number) => void>()

  get size(): number {
    return this.#followers.size
  }

  /** A run has begun. */
  tell(run: AgentRun | undefined): void {
    if (run === undefined) return
    for (const follower of this.#followers) follower(run)
  }

  /** The session shares this version with its pages from now on. */
  tellState(version: number): void {
    for (const listener of this.#ofState) listener(version)
  }

  /** Calls `listener` with each version; returns how to stop. */
  onState(listener: (version: number) => void): () => void {
    this.#ofState.add(listener)
    return () => void this.#ofState.delete(listener)
  }

  /** The events of what `firstOf` gives, if anything, then those of each run that begins, until `signal` is aborted. */
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
      // Asked for only now: a run that begins meanwhile is not missed.
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
