import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import { isEventStream } from '../../src/base/http-answer.ts'

/** Maximum bytes in a response, or in one event of a stream. */
const maxBytes = 10 * 1024 * 1024
const lineFeed = 0x0a
const carriageReturn = 0x0d

type Bytes = Uint8Array<ArrayBuffer>

/** Returns `response` with another body and the same URL. */
export function withBody(response: Response, body: ReadableStream<Bytes>): Response {
  const { status, statusText, headers, url } = response
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url })
}

/** Wraps `fetch` to reject bodies, and single stream events, of more than 10 MiB. */
export function boundedFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    // An opaque redirect in a browser has status 0 and no body.
    if (response.body === null || response.status < 200) return response
    return withBody(response, response.body.pipeThrough(bound(isEventStream(response))))
  }
}

function bound(isEvents: boolean): TransformStream<Bytes, Bytes> {
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
      if (length > maxBytes) controller.error(new Error(`The server sent more than ${maxBytes} bytes in one message.`))
      else controller.enqueue(chunk)
    },
  })
}

/**
 * Wraps `fetch` to start a resumed stream with the id in `last-event-id`, without data. Otherwise, the SDK loses its position and events if
 * the stream breaks before the first new event.
 */
export function resumableFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    const lastEventId = new Headers(init?.headers).get('last-event-id')
    if (lastEventId === null || !isEventStream(response) || response.body === null) return response
    const start = new TextEncoder().encode(`id: ${lastEventId}\ndata:\n\n`)
    const begun = new TransformStream<Bytes, Bytes>({ start: (controller) => controller.enqueue(start) })
    return withBody(response, response.body.pipeThrough(begun))
  }
}

/** Wraps `fetch` to copy the trace context from a call's `_meta` to its headers, for proxies in between. */
export function tracedFetch(fetch: FetchLike): FetchLike {
  return (url, init) => {
    const headers = traceHeaders(init?.body)
    if (headers.length === 0) return fetch(url, init)
    const sent = new Headers(init?.headers)
    for (const [name, value] of headers) if (!sent.has(name)) sent.set(name, value)
    return fetch(url, { ...init, headers: sent })
  }
}

function traceHeaders(body: RequestInit['body']): [string, string][] {
  if (typeof body !== 'string' || !body.includes('"traceparent"')) return []
  const meta: Record<string, unknown> = Object(Object(Object(JSON.parse(body)).params)._meta)
  return ['traceparent', 'tracestate'].flatMap((name): [string, string][] => {
    const value = meta[name]
    return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) ? [[name, value]] : []
  })
}
