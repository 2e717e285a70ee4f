import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'

/** Bytes of an answer, or of one event of a stream of them. */
const maxBytes = 10 * 1024 * 1024
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** As `fetch`, but a body breaks off with an error when it is larger than 10 MiB; of a stream of events, when one of them is. */
export function boundedFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    const { body, status, statusText, headers } = response
    // What a browser does not show of a redirect has status 0, and no body.
    if (body === null || status < 200) return response
    const isEvents = headers.get('content-type')?.startsWith('text/event-stream') === true
    const bounded = new Response(body.pipeThrough(bound(isEvents)), { status, statusText, headers })
    return Object.defineProperty(bounded, 'url', { value: response.url })
  }
}

function bound(isEvents: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let length = 0
  let isLineStart = false
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.length
      if (isEvents) {
        for (const [at, byte] of chunk.entries()) {
          if (byte === carriageReturn) continue
          // An empty line ends an event.
          if (byte === lineFeed && isLineStart) length = chunk.length - at - 1
          isLineStart = byte === lineFeed
        }
      }
      if (length > maxBytes) controller.error(new Error(`The server sent more than ${maxBytes} bytes at once.`))
      else controller.enqueue(chunk)
    },
  })
}
