import { tooManyRuns } from '../../access/problem.ts'
import type { LiveSessionHost } from '../live-session-host.ts'

/** How many runs are on at once, of each owner. */
export class OpenRuns {
  readonly #countOf = new Map<string, number>()

  /** Of everybody. */
  get inAll(): number {
    let all = 0
    for (const count of this.#countOf.values()) all += count
    return all
  }

  /** The place of one session of `owner`, who may have `share` runs on. */
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
