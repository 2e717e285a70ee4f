import { refuse } from '../access/problem.ts'

/** How many answers stream at once. Each holds a reader, and what its client has not taken yet. */
export class OpenStreams {
  readonly #max: number
  #open = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Refuses with 429 `tooManyStreams` where no more may begin: to be asked before anything is begun that would be streamed. */
  assertRoom(): void {
    if (this.#open < this.#max) return
    refuse(429, 'tooManyStreams', `${this.#max} answers are streamed already. Close one, or raise maxOpenStreams on the server.`)
  }

  /** Counts one more; returns what to call once it has ended. */
  enter(): () => void {
    this.#open += 1
    return () => {
      this.#open -= 1
    }
  }
}
