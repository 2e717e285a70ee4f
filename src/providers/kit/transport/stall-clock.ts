/** How long a silent service is waited for, in ms; `false` is for ever. */
export interface Patience {
  /** Before the first byte of an answer, headers or not: services think, and local servers read the prompt. Default 600,000; none for local servers. */
  firstByteTimeoutMs?: number | false
  /** Between two bytes. Default 300,000. */
  idleTimeoutMs?: number | false
  /** Without content, once there was some; pings do not count. Before that it is at least `firstByteTimeoutMs`. Default 600,000. */
  progressTimeoutMs?: number | false
}

/** What is waited for where nothing is said, here and in proxies. */
export const defaultPatience: { readonly [Limit in keyof Required<Patience>]: number } = {
  firstByteTimeoutMs: 600_000,
  idleTimeoutMs: 300_000,
  progressTimeoutMs: 600_000,
}

/** A limit of `given`, or its default; `Infinity` for none. */
export function patienceOf(given: Patience, limit: keyof Patience): number {
  const ms = given[limit]
  return ms === false ? Number.POSITIVE_INFINITY : (ms ?? defaultPatience[limit])
}

/** Longest time between two looks, in ms: a stall is noticed at most this much after its limit. */
const maxTickMs = 1000

/**
 * Watches one response: calls `onStall` once with the limit that was reached.
 *
 * Touching is two stores and reads no clock: time is counted in ticks of the one timer, of which at least eight make up the shortest limit.
 * Time in which the program does not run (a sleeping laptop) does not count.
 */
export class StallClock {
  #ticks = 0
  #bytesAt = 0
  #contentAt = 0
  #hasBytes = false
  #hasContent = false
  /** The tick at which what follows the response is no longer waited for. */
  #endsAt = Number.POSITIVE_INFINITY
  readonly #firstTicks: number
  readonly #idleTicks: number
  readonly #progressTicks: number
  readonly #tickMs: number
  readonly #onStall: (limit: keyof Patience) => void
  readonly #timer: ReturnType<typeof setInterval>

  constructor(patience: Patience, onStall: (limit: keyof Patience) => void) {
    const first = patienceOf(patience, 'firstByteTimeoutMs')
    const idle = patienceOf(patience, 'idleTimeoutMs')
    const progress = patienceOf(patience, 'progressTimeoutMs')
    this.#tickMs = Math.max(1, Math.min(maxTickMs, first / 8, idle / 8, progress / 8))
    this.#firstTicks = Math.ceil(first / this.#tickMs)
    this.#idleTicks = Math.ceil(idle / this.#tickMs)
    this.#progressTicks = Math.ceil(progress / this.#tickMs)
    this.#onStall = onStall
    this.#timer = setInterval(this.#tick, this.#tickMs)
  }

  /** Bytes arrived, and content in them. */
  touch(isContent: boolean): void {
    this.#bytesAt = this.#ticks
    this.#hasBytes = true
    if (!isContent) return
    this.#contentAt = this.#ticks
    this.#hasContent = true
  }

  /** Ends the wait `ms` from now, whatever bytes arrive meanwhile: pings do not restart it. Another call does. */
  endWithin(ms: number): void {
    this.touch(false)
    this.#endsAt = this.#ticks + Math.ceil(ms / this.#tickMs)
  }

  /** Releases the timer. */
  stop(): void {
    clearInterval(this.#timer)
  }

  readonly #tick = (): void => {
    this.#ticks++
    const limit = this.#reached()
    if (limit === undefined) return
    this.stop()
    this.#onStall(limit)
  }

  /** The tick under way when something arrived does not count: it may have been almost over. */
  #reached(): keyof Patience | undefined {
    if (this.#ticks > this.#endsAt) return 'idleTimeoutMs'
    const silent = this.#ticks - this.#bytesAt
    if (silent > (this.#hasBytes ? this.#idleTicks : this.#firstTicks)) return this.#hasBytes ? 'idleTimeoutMs' : 'firstByteTimeoutMs'
    // Who may take long to begin may say so meanwhile.
    const most = this.#hasContent ? this.#progressTicks : Math.max(this.#firstTicks, this.#progressTicks)
    return this.#ticks - this.#contentAt > most ? 'progressTimeoutMs' : undefined
  }
}

/**
 * Node's `fetch` gives up by itself after 300 s without headers, or between two bytes. Its connections stay those of the process, only these two limits
 * are switched off for a call; elsewhere there is nothing to switch.
 */
export function withoutOwnTimeouts(): { dispatcher?: object } {
  const shared = nodeDispatcher()
  if (shared === undefined) return {}
  const dispatch: Dispatch = (options, handler) => shared.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)
  return { dispatcher: { dispatch } }
}

/** What Node's `fetch` sends requests with; `undefined` elsewhere. */
export function nodeDispatcher(): { dispatch: Dispatch } | undefined {
  const shared: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  return isDispatcher(shared) ? shared : undefined
}

type Dispatch = (options: object, handler: unknown) => boolean

function isDispatcher(value: unknown): value is { dispatch: Dispatch } {
  return typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function'
}
