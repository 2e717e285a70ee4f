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
 * - The body is a string by default. An injected `fetch` always gets a string.
 * - Node's own `fetch` gets a stream with a known length, which creates the bytes of long data while sending. As a string, the data would
 *   be in memory three times. Browsers cannot stream over HTTP/1.1, and other runtimes handle a stream's length differently.
 * - Each call creates a new body, so that a request can be retried.
 */
export function sentBody({ headers, body }: EncodedCall, media: DetachedMedia, isOwnFetch: boolean): SentBody {
  // Node loads its `fetch` implementation when one of its classes is first accessed.
  const isStreamed = isOwnFetch && typeof Response === 'function' && nodeDispatcher() !== undefined
  if (!isStreamed) return { headers: { ...headers }, body: wholeText(body, media) }
  const encoder = new TextEncoder()
  const parts = bodyParts(body, media, (text) => encoder.encode(text))
  // Base64 uses one byte per character.
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
