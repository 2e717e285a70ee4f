import type { EncodedCall } from '../../codec.ts'
import { nodeDispatcher } from '../../transport/stall-clock.ts'
import { bodyParts, type MediaBeside, wholeText } from './media-json.ts'

/** Characters that are turned into bytes at a time. */
const pieceChars = 256 * 1024

/** What `fetch` is given of a body. */
interface SentBody {
  headers: Record<string, string>
  body: string | ReadableStream<Uint8Array>
  duplex?: 'half'
}

/**
 * The body of a call with long data, with the headers that go with it.
 *
 * **Contract**
 * - A text; an injected `fetch` always gets one.
 * - Long data go as bytes that are made when they are sent, where the `fetch` is Node's own: it takes a stream whose length is known. As a text they would be
 *   held three times. Pages may not stream over HTTP/1.1, and what other runtimes make of a length beside a stream is their own.
 * - Each call makes a new one, so that a request can be sent again.
 */
export function sentBody({ headers, body }: EncodedCall, media: MediaBeside, isOwnFetch: boolean): SentBody {
  // Node loads its `fetch`, and what that sends with, when one of its classes is first asked for.
  const isStreamed = isOwnFetch && typeof Response === 'function' && nodeDispatcher() !== undefined
  if (!isStreamed) return { headers: { ...headers }, body: wholeText(body, media) }
  const encoder = new TextEncoder()
  const parts = bodyParts(body, media, (text) => encoder.encode(text))
  // Data are base64: a byte for each character.
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const stream = new ReadableStream(inPieces(parts, encoder), { highWaterMark: 0 })
  return { headers: { ...headers, 'content-length': String(length) }, body: stream, duplex: 'half' }
}

function inPieces(parts: readonly (string | Uint8Array)[], encoder: TextEncoder): UnderlyingDefaultSource<Uint8Array> {
  let next = 0
  let at = 0
  return {
    pull: (controller) => {
      const part = parts[next]
      if (part === undefined) return controller.close()
      const end = typeof part === 'string' ? at + pieceChars : part.length
      controller.enqueue(typeof part === 'string' ? encoder.encode(part.slice(at, end)) : part)
      at = end < part.length ? end : 0
      if (at === 0) next += 1
    },
  }
}
