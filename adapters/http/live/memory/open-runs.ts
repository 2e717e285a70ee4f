import { tooManyRuns } from '../../access/problem.ts'
import type { LiveSessionHost } from '../live-session-host.ts'

/** Counts active runs per owner. */
export class OpenRuns {
  readonly #countOf = new Map<string, number>()

  /** Active runs of all owners. */
  get inAll(): number {
    let all = 0
    for (const count of this.#countOf.values()) all += count
    return all
  }

  /** Returns the run slot of one of `owner`'s sessions. An owner can have `share` active runs. */
  of(owner: string, share: number): LiveSessionHost['runs'] {
    let isCounted = false
    const count = () => {
      if (!isCounted) this.#add(owner, 1)
      isCounted = true
    }
    return {
      open: async () => {
        if (!isCounted && (this.#countOf.get(owner) ?? 0) >= share) return tooManyRuns
        count()
        return undefined
      },
      keep: count,
      close: () => {
        if (isCounted) this.#add(owner, -1)
        isCounted = false
      },
    }
  }

  #add(owner: string, more: number): void {
    const next = (this.#countOf.get(owner) ?? 0) + more
    if (next <= 0) this.#countOf.delete(owner)
    else this.#countOf.set(owner, next)
  }
}
