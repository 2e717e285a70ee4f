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
