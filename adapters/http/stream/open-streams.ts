import { type Caller, shareOf } from '../access/authorize.ts'
import { refuse, soonMs } from '../access/problem.ts'

/** How many answers stream to each caller at once. Each holds a reader, and what its client has not taken yet. */
export class OpenStreams {
  readonly #given: number | undefined
  readonly #openOf = new Map<string | undefined, number>()

  constructor(given: number | undefined) {
    this.#given = given
  }

  /** Refuses with 429 `tooManyStreams` where no more may begin: to be asked before anything is begun that would be streamed. */
  assertRoom(caller: Caller): void {
    const share = shareOf(caller, this.#given)
    if ((this.#openOf.get(caller.identity) ?? 0) < share) return
    refuse(429, 'tooManyStreams', `${share} answers are streamed to you already. Close one, or raise maxOpenStreams on the server.`, soonMs)
  }

  /** Counts one more; returns what to call once it has ended. */
  enter({ identity }: Caller): () => void {
    this.#add(identity, 1)
    return () => this.#add(identity, -1)
  }

  #add(identity: string | undefined, count: number): void {
    const open = (this.#openOf.get(identity) ?? 0) + count
    if (open > 0) this.#openOf.set(identity, open)
    else this.#openOf.delete(identity)
  }
}
