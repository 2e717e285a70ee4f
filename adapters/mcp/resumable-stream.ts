import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

/**
 * As `fetch`, but a stream of events that goes on after `last-event-id` begins with that id, without data: the SDK forgets where it was when a stream breaks
 * before anything new has come, and would then ask for all that is new, which loses what came between.
 */
export function resumableFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    const lastEventId = new Headers(init?.headers).get('last-event-id')
    const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const { body, status, statusText, headers } = response
    if (lastEventId === null || !isEvents || body === null) return response
    const start = new TextEncoder().encode(`id: ${lastEventId}\ndata:\n\n`)
    const begun = body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({ start: (controller) => controller.enqueue(start) }),
    )
    return Object.defineProperty(new Response(begun, { status, statusText, headers }), 'url', { value: response.url })
  }
}

/**
 * The transport as the interface has it; the class says of its session that it may be undefined. It remembers the timer of one broken stream, so that
 * those of others would go off after its end: here `close` stops them all.
 */
export function endingTransport(transport: StreamableHTTPClientTransport): Transport {
  const timers = new Set<ReturnType<typeof setTimeout>>()
  Object.defineProperty(transport, '_reconnectionTimeout', {
    get: () => undefined,
    set: (timer: ReturnType<typeof setTimeout> | undefined) => {
      if (timer === undefined) return
      timers.add(timer)
      const [oldest] = timers
      // Long since gone off.
      if (timers.size > 100 && oldest !== undefined) timers.delete(oldest)
    },
  })
  const close = transport.close.bind(transport)
  transport.close = async () => {
    for (const timer of timers) clearTimeout(timer)
    timers.clear()
    await close()
  }
  return transport as Transport
}
