import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js'
import { isEventStream } from '../../src/base/http-answer.ts'
import { startTimer } from '../../src/base/timer.ts'
import { withBody } from './fetch-layers.ts'

/** The SDK's retries and backoff for broken streams, unless the server sends its own values. */
export const reconnectionOptions = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
}

/** Milliseconds that the SDK may take to process received data after the stream has ended. */
const readingMs = 100

/** A request without a response. */
interface Call {
  readonly id: RequestId
  /** The id of the last event in its stream, or `undefined` if the stream cannot be resumed. */
  lastEventId?: string
  /** Consecutive failed attempts to reconnect its stream. */
  failures: number
}

/** Marks an interrupted call's error. */
const brokenOff = Object.freeze({ reason: 'brokenOff' })

/** Returns whether an error means that the stream of a call broke and its outcome is unknown. */
export function isBrokenOff(error: unknown): boolean {
  return error instanceof Error && 'data' in error && error.data === brokenOff
}

/**
 * Tracks the calls over one Streamable HTTP transport. The SDK does not report a stream that ends without a response and cannot be resumed,
 * so the call would wait for its timeout. This class fails the call immediately.
 *
 * **Contract**
 * - A stream without event ids is lost when it ends. A stream with ids is lost when the server refuses to resume it, for example after a
 *   restart, or stays unreachable for all of the SDK's retries.
 * - The transport's `close` stops all timers, including the SDK's own.
 */
export class CallStreams {
  readonly #calls = new Map<RequestId, Call>()
  readonly #stops = new Set<() => void>()
  #transport: Transport | undefined

  /** Wraps `fetch` to observe when streams end. */
  fetch(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const lastEventId = new Headers(init?.headers).get('last-event-id')
      if (lastEventId !== null) return this.#resume(lastEventId, () => fetch(url, init))
      const call = this.#callOf(init?.body)
      const response = await fetch(url, init).catch((error) => {
        throw call === undefined || isRefused(error) ? error : Object.assign(new Error('The call was interrupted.'), { data: brokenOff })
      })
      if (call === undefined || response.body === null || !isEventStream(response)) return response
      return withBody(
        response,
        watched(response.body, () => this.#ended(call)),
      )
    }
  }

  /** Returns the transport, typed as the interface: the class declares its session id as optional. */
  follow(given: StreamableHTTPClientTransport): Transport {
    endTimers(given, this.#stops)
    const transport = given as Transport
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      const call = this.#begin(message)
      if (call === undefined) return send(message, options)
      const onresumptiontoken = (token: string) => {
        call.lastEventId = token
        options?.onresumptiontoken?.(token)
      }
      return send(message, { ...options, onresumptiontoken })
    }
    this.#watchAnswers(transport)
    this.#transport = transport
    return transport
  }

  #begin(message: JSONRPCMessage): Call | undefined {
    if (!('method' in message)) return undefined
    if ('id' in message) {
      const call = { id: message.id, failures: 0 }
      this.#calls.set(message.id, call)
      return call
    }
    // The request was cancelled.
    const { requestId } = Object(message.params)
    if (message.method === 'notifications/cancelled') this.#calls.delete(requestId)
    return undefined
  }

  #watchAnswers(transport: Transport): void {
    let handler: Transport['onmessage']
    Object.defineProperty(transport, 'onmessage', {
      get: () => handler,
      set: (given: Transport['onmessage']) => {
        handler =
          given &&
          ((message, extra) => {
            if (!('method' in message) && message.id !== undefined) this.#calls.delete(message.id)
            given(message, extra)
          })
      },
    })
  }

  #callOf(body: RequestInit['body']): Call | undefined {
    if (typeof body !== 'string' || this.#calls.size === 0) return undefined
    const { id } = Object(JSON.parse(body))
    return this.#calls.get(id)
  }

  async #resume(lastEventId: string, open: () => Promise<Response>): Promise<Response> {
    const call = [...this.#calls.values()].find((one) => one.lastEventId === lastEventId)
    let status = 0
    try {
      const response = await open()
      status = response.status
      return response
    } finally {
      if (call !== undefined) this.#resumed(call, status)
    }
  }

  #resumed(call: Call, status: number): void {
    const isOpen = status >= 200 && status < 300
    call.failures = isOpen ? 0 : call.failures + 1
    const isOver = status >= 300 && status < 500
    if (isOver || call.failures >= reconnectionOptions.maxRetries) this.#fail(call)
  }

  #ended(call: Call): void {
    const stop = startTimer(readingMs, () => {
      this.#stops.delete(stop)
      if (call.lastEventId === undefined) this.#fail(call)
    })
    this.#stops.add(stop)
  }

  #fail(call: Call): void {
    if (!this.#calls.delete(call.id)) return
    const error = { code: ErrorCode.ConnectionClosed, message: 'The stream of the call was interrupted.', data: brokenOff }
    this.#transport?.onmessage?.({ jsonrpc: '2.0', id: call.id, error })
  }
}

/** Returns whether the connection was refused, so nothing was sent. Node reports the code in the cause. */
function isRefused(error: unknown): boolean {
  return (
    error instanceof Error &&
    /refused|ENOTFOUND|EAI_AGAIN/i.test(`${error.message} ${Object(error.cause).code} ${Object(error.cause).message}`)
  )
}

/** Returns `body`, and calls `end` when it is over. */
function watched(body: ReadableStream<Uint8Array<ArrayBuffer>>, end: () => void): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      end()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/**
 * Makes the transport's `close` stop all timers, including those in `stops`. The transport stores the timer of only one broken stream, so
 * the other timers would fire after `close`.
 */
function endTimers(transport: StreamableHTTPClientTransport, stops: Set<() => void>): void {
  const timers = new Set<ReturnType<typeof setTimeout>>()
  Object.defineProperty(transport, '_reconnectionTimeout', {
    get: () => undefined,
    set: (timer: ReturnType<typeof setTimeout> | undefined) => {
      if (timer === undefined) return
      timers.add(timer)
      const [oldest] = timers
      // This timer fired long ago.
      if (timers.size > 100 && oldest !== undefined) timers.delete(oldest)
    },
  })
  const close = transport.close.bind(transport)
  transport.close = async () => {
    for (const timer of timers) clearTimeout(timer)
    timers.clear()
    for (const stop of stops) stop()
    stops.clear()
    await close()
  }
}
