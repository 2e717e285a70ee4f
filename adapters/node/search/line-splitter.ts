const longestLine = 1024 * 1024

/** Splits bytes into lines in bounded memory; a line above 1 MiB is dropped and reported as `undefined`. */
export class LineSplitter {
  readonly #onLine: (line: string | undefined) => void
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(onLine: (line: string | undefined) => void) {
    this.#onLine = onLine
  }

  push(chunk: Uint8Array): void {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end))
      this.#finish()
      start = end + 1
    }
    this.#keep(chunk.slice(start))
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.byteLength
    if (this.#bytes > longestLine) this.#parts = []
    else this.#parts.push(part)
  }

  #finish(): void {
    const decoder = new TextDecoder()
    const line = this.#parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode()
    this.#onLine(this.#bytes > longestLine ? undefined : line)
    this.#parts = []
    this.#bytes = 0
  }
}
