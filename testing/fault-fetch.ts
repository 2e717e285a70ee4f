/**
 * Creates a generator of numbers in [0, 1) that are the same for the same seed on every platform (mulberry32), so that random failures are
 * reproducible.
 */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Script for one call: a response and its faults. Offsets are byte offsets in the body after `duplicate` is applied. */
export interface FaultScript {
  /** Default: empty. */
  body?: string | Uint8Array
  /** Default: 200. */
  status?: number
  headers?: Record<string, string>
  /** How the body is split into chunks: chunks of this many bytes, or of random sizes from 1 byte. Default: one chunk. */
  split?: number | { seed: number }
  /** Sends the bytes from `from` (inclusive) to `to` (exclusive) twice. */
  duplicate?: { from: number; to: number }
  /** Ends the body after `at` bytes, as if it were complete (`end`) or with a broken connection (`reset`). */
  cut?: { at: number; how: 'end' | 'reset' }
  /** Sends nothing after `at` bytes until the call is aborted. `onStall` runs when the reader requests more. */
  stall?: { at: number; onStall?: () => void }
  /** Rejects with a `TypeError` that has this message, like `fetch` without a connection. */
  networkError?: string
}

/** A call that `faultFetch` received. */
export interface RecordedCall {
  url: string
  method: string
  headers: Headers
  /** The body, if it was text. */
  body: string
  /** The call's `redirect` option. Default: `follow`. */
  redirect: string
}

/** A `fetch` that follows a script of faults. */
export interface FaultFetch {
  (input: Request | string | URL, init?: RequestInit): Promise<Response>
  /** The received calls, in order. */
  readonly calls: readonly RecordedCall[]
  /** Number of bodies that were neither fully read, broken nor cancelled. */
  readonly openStreams: number
}

function applyDuplicate(script: FaultScript): Uint8Array {
  const { body = '', duplicate } = script
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  if (duplicate === undefined) return bytes
  const twice = bytes.subarray(duplicate.from, duplicate.to)
  const result = new Uint8Array(bytes.length + twice.length)
  result.set(bytes.subarray(0, duplicate.to))
  result.set(twice, duplicate.to)
  result.set(bytes.subarray(duplicate.to), duplicate.to + twice.length)
  return result
}

/** Sizes for the next chunks. Random sizes are mostly small, because small chunks reveal bugs in decoders. */
function chunkSizes(split: FaultScript['split'], total: number): () => number {
  if (typeof split === 'number') return () => split
  if (split === undefined) return () => total
  const random = seededRandom(split.seed)
  return () => 1 + Math.floor(random() ** 3 * 64)
}

function bodyStream(script: FaultScript, signal: AbortSignal | undefined, onClose: () => void): ReadableStream<Uint8Array> {
  const all = applyDuplicate(script)
  const end = Math.min(all.length, script.cut?.at ?? all.length, script.stall?.at ?? all.length)
  const nextSize = chunkSizes(script.split, all.length)
  let sent = 0
  let onAbort: () => void = () => undefined
  const close = (): void => {
    signal?.removeEventListener('abort', onAbort)
    onClose()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        onAbort = () => {
          controller.error(signal?.reason)
          close()
        }
        signal?.addEventListener('abort', onAbort)
      },
      pull(controller) {
        if (sent < end) {
          const from = sent
          sent = Math.min(end, from + nextSize())
          // A copy, because a reader may transfer or overwrite its chunk.
          controller.enqueue(all.slice(from, sent))
          return
        }
        if (script.stall !== undefined) {
          script.stall.onStall?.()
          return
        }
        if (script.cut?.how === 'reset') controller.error(new TypeError('terminated'))
        else controller.close()
        close()
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}

function recorded(input: Request | string | URL, init: RequestInit | undefined): RecordedCall {
  const request = input instanceof Request ? input : undefined
  return {
    url: request?.url ?? String(input),
    method: init?.method ?? request?.method ?? 'GET',
    headers: new Headers(init?.headers ?? request?.headers),
    body: typeof init?.body === 'string' ? init.body : '',
    redirect: init?.redirect ?? request?.redirect ?? 'follow',
  }
}

/**
 * Creates a `fetch` that runs the first script for its first call, and so on. The last script serves all further calls.
 *
 * **Contract**
 * - Behaves like the platform's `fetch`: when aborted, the call and its body reject with the signal's reason.
 * - Creates chunks as they are read. Uses no timers.
 *
 * Source: docs/guides/testing.md
 */
export function faultFetch(first: FaultScript, ...more: readonly FaultScript[]): FaultFetch {
  const scripts = [first, ...more]
  const calls: RecordedCall[] = []
  let openStreams = 0
  const respond = async (input: Request | string | URL, init?: RequestInit): Promise<Response> => {
    const script = scripts[Math.min(calls.length, scripts.length - 1)] ?? first
    calls.push(recorded(input, init))
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
    signal?.throwIfAborted()
    if (script.networkError !== undefined) throw new TypeError(script.networkError)
    openStreams += 1
    let isOpen = true
    const stream = bodyStream(script, signal, () => {
      if (isOpen) openStreams -= 1
      isOpen = false
    })
    return new Response(stream, { status: script.status ?? 200, headers: script.headers ?? {} })
  }
  return Object.defineProperties(respond, {
    calls: { value: calls },
    openStreams: { get: () => openStreams },
  }) as FaultFetch // `defineProperties` does not add its properties to the type
}
