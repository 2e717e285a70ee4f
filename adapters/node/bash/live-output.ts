import { fromCharacter, wholeCharacters } from './output-buffer.ts'

const shownBytes = 8192
const burstBytes = 262_144

/**
 * The tail of a running command's output, for display: at most 8 KiB.
 *
 * Updates with every chunk up to 256 KiB, then once per 256 KiB, to bound the cost.
 */
export class LiveOutput {
  readonly #show: (text: string) => void
  #shown = new Uint8Array(0)
  #total = 0
  #nextAt = 0

  constructor(show: (text: string) => void) {
    this.#show = show
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.byteLength
    const kept = this.#shown.subarray(Math.max(0, this.#shown.length + chunk.length - shownBytes))
    const added = chunk.subarray(Math.max(0, chunk.length - shownBytes))
    const next = new Uint8Array(kept.length + added.length)
    next.set(kept)
    next.set(added, kept.length)
    this.#shown = next
    if (this.#total < this.#nextAt) return
    if (this.#total > burstBytes) this.#nextAt = this.#total + burstBytes
    const whole = wholeCharacters(next)
    this.#show(new TextDecoder().decode(this.#total > shownBytes ? fromCharacter(whole) : whole))
  }
}
