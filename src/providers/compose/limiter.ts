import { aDescribedModel } from '../../base/port-kinds.ts'
import { maxServerDelayMs, startTimer } from '../../base/timer.ts'
import { ConfigError, ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aPositiveNumber, oneOf, options as optionsOf, wholeFrom } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider, StreamRequest } from '../../types/model/provider.ts'

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

const limiterTable = { concurrency: wholeFrom(1), requests: wholeFrom(1), tokens: wholeFrom(1), perMs: aPositiveNumber }
const limiterOptions = optionsOf<LimiterOptions>(limiterTable)

/** Who goes first: a person who waits, or work that nobody watches. */
export type Priority = 'person' | 'background'

/** How one model uses a limiter. */
export interface LimitedOptions {
  /** Work in the background waits until no person does. Default `person`. */
  priority?: Priority
}

const limitedOptions = optionsOf<LimitedOptions>({ priority: oneOf('person', 'background') })

/** One that waits for its turn. */
interface Waiting {
  key: string
  tokens: number
  begin: () => void
}

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
  /**
   * Resolves with how to end the turn, once it has come: `end(tokens)` says what was used, where that is known. Rejects with the signal's reason. `key` names a conversation: several take
   * turns, however much each of them asks.
   */
  turn(ask: { key: string; tokens: number; priority: Priority; signal: AbortSignal }): Promise<(tokens?: number) => void>
  /** Lets nobody begin for `ms` milliseconds: the service has asked to wait. */
  hold(ms: number): void
}

/**
 * Lets calls begin as a service allows it: at most so many at a time, and so many calls and tokens within a time.
 *
 * **Contract**
 * - Conversations take turns, so that one that asks much does not hold up the others; within a conversation the first comes first. People come before work in the background.
 * - Where the service asks one call to wait, all wait, for a minute at most. A call that fails counts as what was estimated, unless it says what it used.
 * - A call that is aborted while it waits leaves; no timer and no listener stays behind when nobody waits.
 * - What it counts belongs to this object and this process: other processes do not know of it. Give each a share.
 * - Throws `ConfigError` `invalidOption` without a limit, and for one that is none.
 *
 * Source: docs/concepts/models-of-models.md
 *
 * @example
 * ```ts
 * const shared = limiter({ concurrency: 8, requests: 500, tokens: 200_000 })
 * const model = limited(anthropic('claude-sonnet-5', { apiKey }), shared)
 * ```
 */
export function limiter(options: LimiterOptions): Limiter {
  checkOptions(options, limiterOptions)
  const { concurrency, requests, tokens } = options
  if (concurrency === undefined && requests === undefined && tokens === undefined) {
    throw new ConfigError('invalidOption', 'limiter() has no limit. Give it concurrency, requests or tokens.')
  }
  return new Turns(options)
}

class Turns implements Limiter {
  readonly #limits: Required<LimiterOptions>
  /** Those who wait, by conversation; a map keeps the order in which they take turns. */
  readonly #queues: Readonly<Record<Priority, Map<string, Waiting[]>>> = { person: new Map(), background: new Map() }
  readonly #used: Used[] = []
  #running = 0
  /** Until when the service has asked to wait. */
  #heldUntil = 0
  #stopTimer: (() => void) | undefined

  constructor({ concurrency = Infinity, requests = Infinity, tokens = Infinity, perMs = 60_000 }: LimiterOptions) {
    this.#limits = { concurrency, requests, tokens, perMs }
  }

  get waiting(): number {
    return Object.values(this.#queues).reduce((sum, queue) => sum + [...queue.values()].reduce((count, { length }) => count + length, 0), 0)
  }

  get running(): number {
    return this.#running
  }

  turn({
    key,
    tokens,
    priority,
    signal,
  }: {
    key: string
    tokens: number
    priority: Priority
    signal: AbortSignal
  }): Promise<(tokens?: number) => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const queue = this.#queues[priority]
      const leave = (): void => {
        remove(queue, key, waiting)
        reject(signal.reason)
        this.#next()
      }
      const waiting: Waiting = {
        key,
        // One that needs more than there ever is goes alone.
        tokens: Math.min(tokens, this.#limits.tokens),
        begin: () => {
          signal.removeEventListener('abort', leave)
          resolve(this.#begin(waiting.tokens))
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

  #begin(expected: number): (tokens?: number) => void {
    const used: Used = { at: performance.now(), tokens: expected }
    const isCounted = this.#limits.requests < Infinity || this.#limits.tokens < Infinity
    if (isCounted) this.#used.push(used)
    this.#running += 1
    let isOver = false
    return (tokens = expected) => {
      if (isOver) return
      isOver = true
      used.tokens = tokens
      this.#running -= 1
      this.#next()
    }
  }

  /** Lets begin who may. */
  #next(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    for (let first = this.#first(); first !== undefined; first = this.#first()) {
      const waitMs = this.#waitFor(first.tokens)
      if (waitMs > 0) {
        // A call that ends asks again; a window that ends needs a clock.
        if (waitMs < Infinity) this.#stopTimer = startTimer(Math.ceil(waitMs), () => this.#next())
        return
      }
      this.#take(first)
      first.begin()
    }
  }

  #first(): Waiting | undefined {
    for (const queue of [this.#queues.person, this.#queues.background]) {
      const [waiting] = queue.values()
      if (waiting?.[0] !== undefined) return waiting[0]
    }
    return undefined
  }

  /** Its conversation goes behind the others. */
  #take(waiting: Waiting): void {
    for (const queue of Object.values(this.#queues)) {
      const own = queue.get(waiting.key)
      if (own?.[0] !== waiting) continue
      own.shift()
      queue.delete(waiting.key)
      if (own.length > 0) queue.set(waiting.key, own)
    }
  }

  /** Milliseconds until a call of so many tokens may begin: 0 at once, infinity when another has to end first. */
  #waitFor(tokens: number): number {
    const { concurrency, requests, tokens: most, perMs } = this.#limits
    const now = performance.now()
    while (this.#used[0] !== undefined && this.#used[0].at <= now - perMs) this.#used.shift()
    if (this.#running >= concurrency) return Infinity
    let excess = Math.max(0, this.#used.reduce((sum, used) => sum + used.tokens, tokens) - most)
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

function remove(queue: Map<string, Waiting[]>, key: string, waiting: Waiting): void {
  const rest = queue.get(key)?.filter((each) => each !== waiting) ?? []
  if (rest.length === 0) queue.delete(key)
  else queue.set(key, rest)
}

/**
 * `model`, whose calls wait for their turn at `shared`.
 *
 * Source: docs/concepts/models-of-models.md
 */
export function limited(model: Model, shared: Limiter, options: LimitedOptions = {}): Model {
  checkOptions(model, aDescribedModel, 'model')
  checkOptions(options, limitedOptions)
  const { priority = 'person' } = options
  /** Tokens of the last call, by conversation; the oldest are forgotten. */
  const known = new Map<string, number>()
  const provider: StreamProvider = {
    api: model.provider.api,
    encode: (request) => model.provider.encode(request),
    stream: async (request, emit, signal) => {
      const key = conversationOf(request)
      const end = await shared.turn({ key, tokens: known.get(key) ?? 1000, priority, signal })
      // A call that fails may have been counted all the same: the estimate stands for what is not known.
      let used: number | undefined
      try {
        const message = await model.provider.stream(request, emit, signal)
        used = tokensOf(message)
        if (used !== undefined) remember(known, key, used)
        return message
      } catch (error) {
        if (!ProviderError.isInstance(error)) throw error
        used = error.partial && tokensOf(error.partial)
        if (error.retryAfterMs !== undefined) shared.hold(Math.min(error.retryAfterMs, maxServerDelayMs))
        throw error
      } finally {
        end(used)
      }
    },
  }
  return { ...model, provider }
}

/** The whole prompt, cached or not, and the answer; `undefined` where the service did not count. */
function tokensOf({ usage }: AssistantMessage): number | undefined {
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output
  return tokens === 0 ? undefined : tokens
}

function remember(known: Map<string, number>, key: string, tokens: number): void {
  known.delete(key)
  known.set(key, tokens)
  const [oldest] = known.keys()
  if (known.size > 1000 && oldest !== undefined) known.delete(oldest)
}

/** A conversation keeps its first message, whatever becomes of it. */
function conversationOf({ messages }: StreamRequest): string {
  const [first] = messages
  const id: unknown = first !== undefined && 'id' in first ? first.id : undefined
  return typeof id === 'string' ? id : ''
}
