/** Splits a byte stream into lines. */
export interface LineBuffer {
  push(chunk: Uint8Array): void
  /** Emits the text after the last line break as a line. */
  end(): void
}

const lineFeed = 0x0a

/**
 * Splits bytes into UTF-8 lines of at most `limit` bytes. Invalid UTF-8 becomes U+FFFD. Each byte is copied once.
 *
 * Truncates a longer line. With `onTooLong`, calls it once instead and stops reading.
 */
export function lineBuffer(limit: number, onLine: (line: string) => void, onTooLong?: () => void): LineBuffer {
  let parts: Uint8Array[] = []
  let length = 0
  let isOver = false
  const flush = () => {
    const line = Buffer.concat(parts, length).toString('utf8')
    parts = []
    length = 0
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  const add = (bytes: Uint8Array) => {
    const room = limit - length
    if (bytes.length > room && onTooLong !== undefined) {
      isOver = true
      parts = []
      onTooLong()
      return
    }
    const kept = bytes.length > room ? bytes.subarray(0, room) : bytes
    parts.push(kept)
    length += kept.length
  }
  return {
    push(chunk) {
      let start = 0
      while (!isOver) {
        const at = chunk.indexOf(lineFeed, start)
        if (at < 0) break
        add(chunk.subarray(start, at))
        if (!isOver) flush()
        start = at + 1
      }
      if (!isOver && start < chunk.length && (length < limit || onTooLong !== undefined)) add(chunk.subarray(start))
    },
    end() {
      if (!isOver && length > 0) flush()
    },
  }
}
