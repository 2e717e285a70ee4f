import { createParser } from 'eventsource-parser'
import { ProviderError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aPositiveNumber, options as optionsOf } from '../contract/shape/shape.ts'

/** How a stream of server-sent events is read. */
export interface SseDecoderOptions {
  /** Most characters an unfinished frame may hold between two `feed` calls. Default 16 Mi (16,777,216). */
  maxBufferChars?: number
}

/** Bytes in, frames out. See {@link createSseDecoder}. */
export interface SseDecoder {
  /** Takes the next bytes, cut anywhere, and reports the frames they complete. */
  feed(bytes: Uint8Array): void
  /** The stream ended by itself: reports a last frame that no blank line closed. */
  end(): void
}

/**
 * Decodes server-sent events.
 *
 * **Contract**
 * - `onData` is called synchronously, once per frame with data: its data lines joined by a newline, the event name unless it is
 *   absent or empty, and the `id` of the frame where it has one. Comments, `retry` and unknown fields are skipped.
 * - Lines end with LF, CR or CRLF; one leading BOM is skipped; bytes that are not UTF-8 become U+FFFD. The frames do not depend on where
 *   the bytes were cut, and time is linear in the bytes.
 * - An unfinished frame of more than `maxBufferChars` throws `ProviderError` `network`, which is not retryable: the next answer would be as long. An error of `onData` is thrown by `feed`. After either
 *   the decoder must not be used again.
 * - `end` is for a stream that ended; a frame cut off by a failure is dropped by not calling it.
 */
export function createSseDecoder(
  onData: (data: string, event: string | undefined, id: string | undefined) => void,
  options: SseDecoderOptions = defaults,
): SseDecoder {
  const maxBufferSize = frameLimit(options)
  // The parser skips the BOM; a decoder that did so too would skip a second one.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const parser = createParser({
    maxBufferSize,
    onEvent: (frame) => onData(frame.data, frame.event, frame.id),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw frameTooLong(maxBufferSize)
    },
  })
  return {
    feed: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })),
    // The first LF ends an open line (or belongs to a CR just read), the second ends the frame.
    end: () => parser.feed(`${decoder.decode()}\n\n`),
  }
}

const framing = optionsOf<SseDecoderOptions>({ maxBufferChars: aPositiveNumber })

const defaults: SseDecoderOptions = {}

/** Most characters of an unfinished frame. */
export function frameLimit(options: SseDecoderOptions): number {
  // A decoder is made for each call of a model, mostly without options.
  if (options !== defaults) checkOptions(options, framing)
  return options.maxBufferChars ?? 16 * 1024 * 1024
}

function frameTooLong(limit: number): ProviderError {
  return new ProviderError(
    'network',
    `A server-sent event grew beyond ${limit} characters without ending. Check that the endpoint really streams events, or raise maxEventChars of the model (maxBufferChars of the decoder).`,
    { isRetryable: false },
  )
}
