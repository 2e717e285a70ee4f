/**
 * Collects a byte stream in bounded memory: the first and the last half of `limit`.
 *
 * Beyond the limit, `text()` returns the beginning, a line that marks the cut, and the end.
 */
export class OutputBuffer {
  readonly #headLimit: number
  readonly #tailLimit: number
  #head: Uint8Array[] = []
  #headBytes = 0
  #tail: Uint8Array[] = []
  #tailBytes = 0
  #total = 0

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.#tailLimit = Math.floor(limit / 2)
    this.#headLimit = limit - this.#tailLimit
  }

  /** Bytes received. */
  get total(): number {
    return this.#total
  }

  /** Adds a copy of the chunk, so a small part never retains a large buffer. */
  push(chunk: Uint8Array): void {
    this.#total += chunk.byteLength
    const room = Math.min(this.#headLimit - this.#headBytes, chunk.byteLength)
    if (room > 0) {
      this.#head.push(chunk.slice(0, room))
      this.#headBytes += room
    }
    if (room < chunk.byteLength) this.#pushTail(chunk.slice(Math.max(room, chunk.byteLength - this.#tailLimit)))
  }

  // Truncate only at twice the limit, so each byte is copied a bounded number of times.
  #pushTail(chunk: Uint8Array): void {
    this.#tail.push(chunk)
    this.#tailBytes += chunk.byteLength
    if (this.#tailBytes <= 2 * this.#tailLimit && this.#tail.length < 1024) return
    const kept = lastBytes(joined(this.#tail, this.#tailBytes), this.#tailLimit)
    this.#tail = [kept]
    this.#tailBytes = kept.byteLength
  }

  /** Returns the retained output as text. Invalid UTF-8 becomes U+FFFD. Drops a character that the limit splits. */
  text(): string {
    const head = joined(this.#head, this.#headBytes)
    const tail = joined(this.#tail, this.#tailBytes)
    const decoder = new TextDecoder()
    if (this.#total <= this.#headLimit + this.#tailLimit) return decoder.decode(joined([head, tail], this.#total))
    const end = decoder.decode(fromCharacter(lastBytes(tail, this.#tailLimit)))
    return `${decoder.decode(wholeCharacters(head))}\n... (output truncated)${end === '' ? '' : `\n${end}`}`
  }
}

/** Returns `bytes` without an incomplete UTF-8 sequence at the end. */
export function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return back < needed ? bytes.subarray(0, bytes.length - back) : bytes
    }
  }
  return bytes
}

/** Returns `bytes` without a partial UTF-8 sequence at the start. */
export function fromCharacter(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}

function lastBytes(bytes: Uint8Array, count: number): Uint8Array {
  return bytes.byteLength <= count ? bytes : bytes.slice(bytes.byteLength - count)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return only
  const all = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.byteLength
  }
  return all
}
