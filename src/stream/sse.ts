import { createParser } from 'eventsource-parser'
import { ProviderError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aPositiveNumber, options as optionsOf } from '../contract/shape/shape.ts'

/** Options for decoding server-sent events. */
export interface SseDecoderOptions {
  /** Maximum characters of an unfinished frame between two `feed` calls. Default: 16 Mi (16,777,216). */
  maxBufferChars?: number
}

/** Decodes bytes to frames. See {@link createSseDecoder}. */
export interface SseDecoder {
  /** Decodes the next bytes, split anywhere, and reports completed frames. */
  feed(bytes: Uint8Array): void
  /** Ends the stream: reports a last frame without a blank line. */
  end(): void
}

/**
 * Decodes server-sent events.
 *
 * **Contract**
 * - `onData` is called synchronously, once per frame with data. It gets the data lines joined by a newline, the event name unless empty,
 *   and the `id` if present. Comments, `retry` and unknown fields are skipped.
 * - Lines end with LF, CR or CRLF. One leading BOM is skipped. Invalid UTF-8 becomes U+FFFD. Frames do not depend on how bytes are split.
 *   Time is linear in the bytes.
 * - An unfinished frame of more than `maxBufferChars` throws `ProviderError` `network`, which is not retryable, because a retry would be as
 *   long. `feed` rethrows errors of `onData`. Do not use the decoder after either.
 * - Call `end` only if the stream ended by itself. Otherwise an incomplete frame is dropped.
 */
export function createSseDecoder(
  onData: (data: string, event: string | undefined, id: string | undefined) => void,
  options: SseDecoderOptions = defaults,
): SseDecoder {
  const maxBufferSize = frameLimit(options)
  // The parser skips one BOM. A text decoder with default options would skip a second BOM.
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
    // The first LF ends an open line (or completes a CR), the second ends the frame.
    end: () => parser.feed(`${decoder.decode()}\n\n`),
  }
}

const framing = optionsOf<SseDecoderOptions>({ maxBufferChars: aPositiveNumber })

const defaults: SseDecoderOptions = {}

/** Returns the maximum characters of an unfinished frame. */
export function frameLimit(options: SseDecoderOptions): number {
  // A decoder is created per model call, mostly without options.
  if (options !== defaults) checkOptions(options, framing)
  return options.maxBufferChars ?? 16 * 1024 * 1024
}

function frameTooLong(limit: number): ProviderError {
  return new ProviderError(
    'network',
    `A server-sent event exceeds ${limit} characters. Check that the endpoint streams events, or raise the model's maxEventChars (maxBufferChars of the decoder).`,
    { isRetryable: false },
  )
}
