import { startTimer } from '../../base/timer.ts'
import type { RateLimits } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aPositiveNumber, type Infer, oneOf, options as optionsOf, wholeFrom } from '../../contract/shape/shape.ts'
import { type BegunCall, StatedLimits } from './stated-limits.ts'

/** Options for `limiter`. The limits apply to all agents in this process together. */
export interface LimiterOptions {
  /** Maximum concurrent calls. Default: unlimited. */
  concurrency?: number
  /** Maximum calls started within `perMs`. Default: unlimited. */
  requests?: number
  /**
   * Maximum input and output tokens within `perMs`. Until a call's usage is known, it is estimated from the previous call in its
   * conversation. Default: unlimited.
   */
  tokens?: number
  /** Length of the window in milliseconds. Default: 60,000. */
  perMs?: number
}

/** Default window in milliseconds. */
export const defaultPerMs = 60_000

/** Option shapes for the limits. */
const limiterFields = { concurrency: wholeFrom(1), requests: wholeFrom(1), tokens: wholeFrom(1), perMs: aPositiveNumber }
const limiterOptions = optionsOf<LimiterOptions>(limiterFields)

export const priorityWord = oneOf('person', 'background')
/** A call's priority: interactive (`person`) or background. */
export type Priority = Infer<typeof priorityWord>

/** Request for a turn: the model, its estimated tokens, and the priority. */
export interface LimiterAsk {
  /** Estimated tokens of the call. Conversations take turns, regardless of how many calls each makes. */
  key: string
  /** The call's conversation. */
  tokens: number
  /** Estimated uncached tokens, which count toward provider limits. Default: all. */
  fresh?: number
  /** The call's model, because providers limit each model separately. Default: one limit for all. */
  model?: string
  priority: Priority
  signal: AbortSignal
}

/** The turn of one call. */
export interface LimiterTurn {
  /** Updates the model's remaining limits, as reported by the provider. */
  report(limits: RateLimits): void
  /** Ends the call. `tokens` is the usage, if known. Calling it again has no effect. */
  end(tokens?: number): void
}

/** A call in the queue. */
interface Waiting extends BegunCall {
  tokens: number
  stated: StatedLimits
  begin: () => void
}

/** Waiting calls by conversation, in turn order. */
type Queue = Map<string, Waiting[]>

/** Usage and start time of one call. */
interface Used {
  at: number
  tokens: number
}

/** Grants turns to model calls. Share one limiter between all models of a provider. */
export interface Limiter {
  /** Number of waiting calls. */
  readonly waiting: number
  /** Number of running calls. */
  readonly running: number
  /** Resolves with a turn, which the caller must end. Rejects with the signal's reason. */
  turn(ask: LimiterAsk): Promise<LimiterTurn>
  /** Delays all calls for `ms` milliseconds, as requested by the provider. */
  hold(ms: number): void
}

/**
 * Creates a limiter for concurrent calls, calls per time and tokens per time. Without options, only the limits in the provider's response
 * headers apply.
 *
 * **Contract**
 * - Conversations take turns, so that a busy conversation does not block the others. Within a conversation, calls start in order.
 *   Interactive calls precede background calls.
 * - If the provider delays one call, all calls wait, for at most a minute. A failed call counts with its estimate, unless it reports usage.
 * - Delays a call that is likely to exceed its model's remaining limits, as reported by the provider, regardless of the options. Calls to
 *   other models continue. A report is valid until the next report, until the limit resets, or for at most a minute.
 * - Aborting a waiting call removes it from the queue. An empty queue has no timers or listeners.
 * - Counts only calls through this object in this process. Give each process a share of the limit.
 * - Throws `ConfigError` `invalidOption` for a limit that is not a positive integer.
 *
 * Source: docs/concepts/models.md
 *
 * @example
 * ```ts
 * const shared = limiter({ concurrency: 8, requests: 500, tokens: 200_000 })
 * const model = limited(anthropic('claude-sonnet-5', { apiKey }), shared)
 * ```
 */
export function limiter(options: LimiterOptions = {}): Limiter {
  checkOptions(options, limiterOptions)
  return new Turns(options)
}

class Turns implements Limiter {
  readonly #limits: Required<LimiterOptions>
  readonly #queues: Readonly<Record<Priority, Queue>> = { person: new Map(), background: new Map() }
  readonly #used: Used[] = []
  /** Limits reported by the provider, by model. */
  readonly #stated = new Map<string, StatedLimits>()
  #running = 0
  /** End of the delay that the provider requested. */
  #heldUntil = 0
  #stopTimer: (() => void) | undefined

  constructor({ concurrency = Infinity, requests = Infinity, tokens = Infinity, perMs = defaultPerMs }: LimiterOptions) {
    this.#limits = { concurrency, requests, tokens, perMs }
  }

  get waiting(): number {
    return Object.values(this.#queues).reduce((sum, queue) => sum + [...queue.values()].reduce((count, { length }) => count + length, 0), 0)
  }

  get running(): number {
    return this.#running
  }

  turn({ key, tokens, fresh = tokens, model = '', priority, signal }: LimiterAsk): Promise<LimiterTurn> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const queue = this.#queues[priority]
      const leave = (): void => {
        remove(queue, key, waiting)
        reject(signal.reason)
        this.#next()
      }
      const waiting: Waiting = {
        // A call that exceeds the whole limit runs alone.
        tokens: Math.min(tokens, this.#limits.tokens),
        fresh,
        stated: this.#statedOf(model),
        begin: () => {
          signal.removeEventListener('abort', leave)
          resolve(this.#turnOf(waiting))
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      const own = queue.get(key)
      if (own === undefined) queue.set(key, [waiting])
      else own.push(waiting)
      this.#next()
    })
  }

  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + ms)
  }

  #statedOf(model: string): StatedLimits {
    const known = this.#stated.get(model) ?? new StatedLimits()
    this.#stated.set(model, known)
    return known
  }

  #turnOf(call: Waiting): LimiterTurn {
    const { stated, tokens: expected } = call
    stated.begun(call)
    const used: Used = { at: performance.now(), tokens: expected }
    const isCounted = this.#limits.requests < Infinity || this.#limits.tokens < Infinity
    if (isCounted) this.#used.push(used)
    this.#running += 1
    let isOver = false
    return {
      report: (limits) => {
        if (isOver) return
        stated.update(call, limits, performance.now())
        this.#next()
      },
      end: (tokens = expected) => {
        if (isOver) return
        isOver = true
        used.tokens = tokens
        stated.ended(call)
        this.#running -= 1
        this.#next()
      },
    }
  }

  /** Starts the calls that can run, interactive calls first. After each start, the conversation moves to the end of the queue. */
  #next(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const waitMs = this.#beginWhoMay(performance.now())
    // The end of a call triggers the next attempt. The end of a window needs a timer.
    if (waitMs < Infinity) this.#stopTimer = startTimer(Math.ceil(waitMs), () => this.#next())
  }

  /** Starts the next call that can run. Otherwise returns the milliseconds until a call can run. */
  #beginWhoMay(now: number): number {
    const exhausted = new Set<StatedLimits>()
    let soonest = Infinity
    for (const queue of Object.values(this.#queues)) {
      for (const [key, own] of queue) {
        const [first] = own
        if (first === undefined || exhausted.has(first.stated)) continue
        const waitMs = this.#waitFor(first.tokens, now)
        const statedMs = first.stated.waitFor(first, now)
        if (waitMs > 0 || statedMs > 0) soonest = Math.min(soonest, Math.max(waitMs, statedMs))
        if (waitMs > 0) return soonest
        // Calls to other models do not wait for this call.
        if (statedMs > 0) exhausted.add(first.stated)
        else this.#begin(queue, key, own)
      }
    }
    return soonest
  }

  #begin(queue: Queue, key: string, own: Waiting[]): void {
    const first = own.shift()
    queue.delete(key)
    if (own.length > 0) queue.set(key, own)
    first?.begin()
  }

  /** Returns the milliseconds until a call of this size can start: 0 for immediately, infinity if another call must end first. */
  #waitFor(needed: number, now: number): number {
    const { concurrency, requests, tokens: most, perMs } = this.#limits
    while (this.#used[0] !== undefined && this.#used[0].at <= now - perMs) this.#used.shift()
    if (this.#running >= concurrency) return Infinity
    let excess = Math.max(0, this.#used.reduce((sum, used) => sum + used.tokens, needed) - most)
    let surplus = this.#used.length + 1 - requests
    let wait = Math.max(0, this.#heldUntil - now)
    for (const used of this.#used) {
      if (excess <= 0 && surplus <= 0) break
      wait = Math.max(wait, used.at + perMs - now)
      excess -= used.tokens
      surplus -= 1
    }
    return wait
  }
}

function remove(queue: Queue, key: string, waiting: Waiting): void {
  const own = queue.get(key) ?? []
  const at = own.indexOf(waiting)
  if (at >= 0) own.splice(at, 1)
  if (own.length === 0) queue.delete(key)
}
