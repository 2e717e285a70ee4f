import type { EncodedCall } from '../../codec.ts'
import { nodeDispatcher } from '../../transport/stall-clock.ts'
import { bodyParts, type DetachedMedia, wholeText } from './media-json.ts'

/** Characters converted to bytes at a time. */
const pieceChars = 256 * 1024

/** The body argument of `fetch`. */
interface SentBody {
  headers: Record<string, string>
  body: string | ReadableStream<Uint8Array>
  duplex?: 'half'
}

/**
 * Returns the body of a call with long data, and its headers.
 *
 * **Contract**
 * - A text; an injected `fetch` always gets a text.
 * - With Node's own `fetch`, long data are bytes created while they are sent: a stream with a known length. As text they would be in memory
 *   three times. Browsers cannot stream over HTTP/1.1, and other runtimes differ in how they treat a length with a stream.
 * - Each call creates a new body, so that a request can be sent again.
 */
export function sentBody({ headers, body }: EncodedCall, media: DetachedMedia, isOwnFetch: boolean): SentBody {
  // Node loads its `fetch` implementation on first access of one of its classes.
  const isStreamed = isOwnFetch && typeof Response === 'function' && nodeDispatcher() !== undefined
  if (!isStreamed) return { headers: { ...headers }, body: wholeText(body, media) }
  const encoder = new TextEncoder()
  const parts = bodyParts(body, media, (text) => encoder.encode(text))
  // Base64 has one byte per character.
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
