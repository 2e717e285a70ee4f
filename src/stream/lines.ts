import { ProviderError } from '../contract/errors.ts'
import { frameLimit, type SseDecoderOptions } from './sse.ts'

/** Decodes bytes to lines. See {@link createLineDecoder}. */
export interface LineDecoder {
  /** Decodes the next bytes, split anywhere, and reports completed lines. */
  feed(bytes: Uint8Array): void
  /** Ends the stream: reports a last line without a line break. */
  end(): void
}

/**
 * Decodes newline-delimited text (`application/x-ndjson`).
 *
 * **Contract**
 * - `onLine` is called synchronously, once per line that is not blank, without its line break (LF or CRLF). A leading BOM is skipped.
 * - Lines do not depend on how bytes are split. Time is linear in the bytes.
 * - An unfinished line of more than `maxBufferChars` (default 16 Mi) throws `ProviderError` `network`, which is not retryable. `feed`
 *   rethrows errors of `onLine`. Do not use the decoder after either.
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
    // Searches only new text.
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
    `A line exceeds ${limit} characters. Check that the endpoint streams lines, or raise the model's maxEventChars (maxBufferChars of the decoder).`,
    { isRetryable: false },
  )
}
