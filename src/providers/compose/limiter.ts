import { startTimer } from '../../base/timer.ts'
import type { RateLimits } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aPositiveNumber, type Infer, oneOf, options as optionsOf, wholeFrom } from '../../contract/shape/shape.ts'
import { type BegunCall, StatedLimits } from './stated-limits.ts'

/** What a service may be asked, by all agents of this process together. */
export interface LimiterOptions {
  /** Calls at the same time. Default: unbounded. */
  concurrency?: number
  /** Calls that may begin within `perMs`. Default: unbounded. */
  requests?: number
  /** Tokens, in and out, within `perMs`. A call counts as many as the last one of its conversation used, until its own are known. Default: unbounded. */
  tokens?: number
  /** Milliseconds. Default 60,000. */
  perMs?: number
}

/** Milliseconds in which calls and tokens are counted. */
export const defaultPerMs = 60_000

/** What each limit may be. */
const limiterFields = { concurrency: wholeFrom(1), requests: wholeFrom(1), tokens: wholeFrom(1), perMs: aPositiveNumber }
const limiterOptions = optionsOf<LimiterOptions>(limiterFields)

export const priorityWord = oneOf('person', 'background')
/** Who goes first: a person who waits, or work that nobody watches. */
export type Priority = Infer<typeof priorityWord>

/** Who asks a limiter for a turn. */
export interface LimiterAsk {
  /** Names a conversation: several take turns, however much each of them asks. */
  key: string
  /** How many tokens the call is likely to use. */
  tokens: number
  /** How many of them are likely not to come from a cache: what a service states counts those. Default: all. */
  fresh?: number
  /** The model that is asked: services limit each apart. Default: the same for all. */
  model?: string
  priority: Priority
  signal: AbortSignal
}

/** What a limiter gives: the turn of one call. */
export interface LimiterTurn {
  /** The service has said what is left of the limits of this model. */
  said(limits: RateLimits): void
  /** The call is over; `tokens`: what was used, where that is known. Once: what comes later does nothing. */
  end(tokens?: number): void
}

/** One that waits for its turn. */
interface Waiting extends BegunCall {
  tokens: number
  stated: StatedLimits
  begin: () => void
}

/** Those who wait, by conversation; a map keeps the order in which they take turns. */
type Queue = Map<string, Waiting[]>

/** What one call used, and when it began. */
interface Used {
  at: number
  tokens: number
}

/** Who gives turns. Share one between all models of a service. */
export interface Limiter {
  /** Calls that wait. */
  readonly waiting: number
  /** Calls that run. */
  readonly running: number
  /** Resolves with the turn once it has come; it must be ended. Rejects with the signal's reason. */
  turn(ask: LimiterAsk): Promise<LimiterTurn>
  /** Lets nobody begin for `ms` milliseconds: the service has asked to wait. */
  hold(ms: number): void
}

/**
 * Lets calls begin as a service allows it: at most so many at a time, and so many calls and tokens within a time. Without options, as the service says
 * in the headers of its answers.
 *
 * **Contract**
 * - Conversations take turns, so that one that asks much does not hold up the others; within a conversation the first comes first. People come before work in the background.
 * - Where the service asks one call to wait, all wait, for a minute at most. A call that fails counts as what was estimated, unless it says what it used.
 * - No call begins that is likely to exceed what the service says is left of the limits of its model, whatever the options are. Calls to other models go
 *   on. What it says counts until the service says something else or the limit is whole again, for a minute at most.
 * - A call that is aborted while it waits leaves; no timer and no listener stays behind when nobody waits.
 * - What it counts belongs to this object and this process: other processes do not know of it. Give each a share.
 * - Throws `ConfigError` `invalidOption` for a limit that is no whole number above 0.
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
  /** What the service has said, by model. */
  readonly #stated = new Map<string, StatedLimits>()
  #running = 0
  /** Until when the service has asked to wait. */
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
        // One that needs more than there ever is goes alone.
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
      said: (limits) => {
        if (isOver) return
        stated.said(call, limits, performance.now())
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

  /** Lets begin who may, people first. Who has begun goes behind the others, so that one pass comes to it again. */
  #next(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const waitMs = this.#beginWhoMay(performance.now())
    // A call that ends asks again; a window that ends needs a clock.
    if (waitMs < Infinity) this.#stopTimer = startTimer(Math.ceil(waitMs), () => this.#next())
  }

  /** Milliseconds until somebody else may begin. */
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
        // Calls to other models of the service need not wait for this one.
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

  /** Milliseconds until a call of so many tokens may begin: 0 at once, infinity when another has to end first. */
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
