import { ProviderError } from '../contract/errors.ts'
import { frameLimit, type SseDecoderOptions } from './sse.ts'

/** Bytes in, lines out. See {@link createLineDecoder}. */
export interface LineDecoder {
  /** Takes the next bytes, cut anywhere, and reports the lines they complete. */
  feed(bytes: Uint8Array): void
  /** The stream ended by itself: reports a last line without an end. */
  end(): void
}

/**
 * Decodes newline-delimited text (`application/x-ndjson`).
 *
 * **Contract**
 * - `onLine` is called synchronously, once per line that is not blank, without its end (LF or CRLF); a leading BOM is skipped.
 * - The lines do not depend on where the bytes were cut, and time is linear in the bytes.
 * - An unfinished line of more than `maxBufferChars` (default 16 Mi) throws `ProviderError` `network`, which is not retryable. An error of `onLine` is thrown by `feed`. After either
 *   the decoder must not be used again.
 */
export function createLineDecoder(onLine: (line: string) => void, options: SseDecoderOptions = {}): LineDecoder {
  const maxLineChars = frameLimit(options)
  const decoder = new TextDecoder()
  let rest = ''

  const report = (line: string): void => {
    const trimmed = line.trim()
    if (trimmed !== '') onLine(trimmed)
  }

  const take = (text: string): void => {
    let from = 0
    // Only what is new is searched.
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = rest + text.slice(from, end)
      rest = ''
      from = end + 1
      report(line)
    }
    rest += text.slice(from)
    if (rest.length > maxLineChars) throw lineTooLong(maxLineChars)
  }

  return {
    feed: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      take(decoder.decode())
      const line = rest
      rest = ''
      report(line)
    },
  }
}

function lineTooLong(limit: number): ProviderError {
  return new ProviderError(
    'network',
    `A line grew beyond ${limit} characters without ending. Check that the endpoint really streams lines, or raise maxEventChars of the model (maxBufferChars of the decoder).`,
    { isRetryable: false },
  )
}
