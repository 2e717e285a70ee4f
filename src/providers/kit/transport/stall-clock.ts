/** Timeouts for a silent provider in milliseconds. `false` disables one. */
export interface Patience {
  /**
   * Maximum milliseconds until the first byte of the body. Models think and local servers read the prompt after they send the headers.
   * Default: 600,000; no limit for local servers.
   */
  firstByteTimeoutMs?: number | false
  /** Maximum milliseconds between two bytes of the body. Default: 300,000. */
  idleTimeoutMs?: number | false
  /**
   * Maximum milliseconds between two pieces of content. Pings do not count. Before the first content, at least `firstByteTimeoutMs`.
   * Default: 600,000.
   */
  progressTimeoutMs?: number | false
}

/** Default timeouts, also used by proxies. */
export const defaultPatience: { readonly [Limit in keyof Required<Patience>]: number } = {
  firstByteTimeoutMs: 600_000,
  idleTimeoutMs: 300_000,
  progressTimeoutMs: 600_000,
}

/** Returns a limit in `given`, or its default. `Infinity` if disabled. */
export function patienceOf(given: Patience, limit: keyof Patience): number {
  const ms = given[limit]
  return ms === false ? Number.POSITIVE_INFINITY : (ms ?? defaultPatience[limit])
}

/** Maximum interval between checks in milliseconds, and therefore the maximum delay in detecting a stall. */
const maxTickMs = 1000

/**
 * Watches one response. Calls `onStall` once, with the limit that was reached.
 *
 * `touch` takes two stores and reads no clock. Counts time in ticks of one timer, with at least eight ticks in the shortest limit. Does not
 * count time during which the program is suspended (a sleeping laptop).
 */
export class StallClock {
  #ticks = 0
  #bytesAt = 0
  #contentAt = 0
  #hasBytes = false
  #hasContent = false
  /** Tick at which to stop waiting for trailing data. */
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

  /** Records that bytes arrived, and whether they contained content. */
  touch(isContent: boolean): void {
    this.#bytesAt = this.#ticks
    this.#hasBytes = true
    if (!isContent) return
    this.#contentAt = this.#ticks
    this.#hasContent = true
  }

  /** Ends the wait after `ms`, regardless of arriving bytes. Calling it again restarts the wait. */
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

  /** Excludes the current tick, because it may be almost over. */
  #reached(): keyof Patience | undefined {
    if (this.#ticks > this.#endsAt) return 'idleTimeoutMs'
    const silent = this.#ticks - this.#bytesAt
    if (silent > (this.#hasBytes ? this.#idleTicks : this.#firstTicks)) return this.#hasBytes ? 'idleTimeoutMs' : 'firstByteTimeoutMs'
    // Until then, a provider with a long first-byte limit may send pings.
    const most = this.#hasContent ? this.#progressTicks : Math.max(this.#firstTicks, this.#progressTicks)
    return this.#ticks - this.#contentAt > most ? 'progressTimeoutMs' : undefined
  }
}

/**
 * Returns fetch options that disable the timeouts of Node's `fetch`, which fails after 300 s without headers or between two bytes. Calls
 * still share the process's connections. Other runtimes have no such timeouts.
 */
export function withoutOwnTimeouts(): { dispatcher?: object } {
  const shared = nodeDispatcher()
  if (shared === undefined) return {}
  const dispatch: Dispatch = (options, handler) => shared.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)
  return { dispatcher: { dispatch } }
}

/** Returns the dispatcher of Node's `fetch`. `undefined` in other runtimes. */
export function nodeDispatcher(): { dispatch: Dispatch } | undefined {
  const shared: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  return isDispatcher(shared) ? shared : undefined
}

type Dispatch = (options: object, handler: unknown) => boolean

function isDispatcher(value: unknown): value is { dispatch: Dispatch } {
  return typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function'
}
