import { aDescribedModel } from '../../base/port-kinds.ts'
import { maxServerDelayMs, startTimer } from '../../base/timer.ts'
import { errorText, ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { RateLimits } from '../../contract/model/rate-limits.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aPositiveNumber, oneOf, options as optionsOf, wholeFrom } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamEvent, StreamProvider, StreamRequest } from '../../types/model/provider.ts'
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

/** Who asks for a turn. */
export interface TurnAsk {
  /** Names a conversation: several take turns, however much each of them asks. */
  key: string
  /** How many tokens the call is likely to use. */
  tokens: number
  /** How many of them are likely not to come from a cache. Default: all. */
  fresh?: number
  /** The model that is asked: services limit each apart. Default: the same for all. */
  model?: string
  priority: Priority
  signal: AbortSignal
}

/** The turn of one call. */
export interface Turn {
  /** The service has said what is left of its limits. */
  said(limits: RateLimits): void
  /** The call is over; `tokens`: what was used, where that is known. */
  end(tokens?: number): void
}

/** One that waits for its turn. */
interface Waiting extends BegunCall {
  key: string
  tokens: number
  stated: StatedLimits
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
  /** Resolves with the turn once it has come; it must be ended. Rejects with the signal's reason. */
  turn(ask: TurnAsk): Promise<Turn>
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
 * - What the service says is left of its limits is never exceeded, whatever the options are. It counts until the service says something else or the
 *   limit is whole again, for a minute at most.
 * - A call that is aborted while it waits leaves; no timer and no listener stays behind when nobody waits.
 * - What it counts belongs to this object and this process: other processes do not know of it. Give each a share.
 * - Throws `ConfigError` `invalidOption` for a limit that is none.
 *
 * Source: docs/concepts/models-of-models.md
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
  /** Those who wait, by conversation; a map keeps the order in which they take turns. */
  readonly #queues: Readonly<Record<Priority, Map<string, Waiting[]>>> = { person: new Map(), background: new Map() }
  readonly #used: Used[] = []
  /** What the service has said, by model. */
  readonly #stated = new Map<string, StatedLimits>()
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

  turn({ key, tokens, fresh = tokens, model = '', priority, signal }: TurnAsk): Promise<Turn> {
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
        fresh,
        stated: this.#statedOf(model),
        begin: () => {
          signal.removeEventListener('abort', leave)
          resolve(this.#begin(waiting))
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

  #begin(call: Waiting): Turn {
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

  /** Lets begin who may. */
  #next(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    for (let first = this.#first(); first !== undefined; first = this.#first()) {
      const waitMs = this.#waitFor(first)
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

  /** Milliseconds until a call may begin: 0 at once, infinity when another has to end first. */
  #waitFor(call: Waiting): number {
    const { tokens: needed, stated } = call
    const { concurrency, requests, tokens: most, perMs } = this.#limits
    const now = performance.now()
    while (this.#used[0] !== undefined && this.#used[0].at <= now - perMs) this.#used.shift()
    if (this.#running >= concurrency) return Infinity
    let excess = Math.max(0, this.#used.reduce((sum, used) => sum + used.tokens, needed) - most)
    let surplus = this.#used.length + 1 - requests
    let wait = Math.max(0, this.#heldUntil - now, stated.waitFor(call, now))
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
  /** What the last call used, by conversation; the oldest are forgotten. */
  const known = new Map<string, Estimate>()
  const provider: StreamProvider = {
    api: model.provider.api,
    encode: (request) => model.provider.encode(request),
    stream: async (request, emit, signal) => {
      const key = conversationOf(request)
      const { provider: service, id } = request.model
      const turn = await shared
        .turn({ key, ...(known.get(key) ?? unknown), model: `${service}/${id}`, priority, signal })
        .catch((error) => {
          if (!signal.aborted) throw error
          throw new ProviderError('cancelled', `The call to ${id} was cancelled while it waited for its turn: ${errorText(error)}`)
        })
      const watched = (event: StreamEvent): void => {
        if (event.type === 'rateLimits') turn.said(event.limits)
        emit(event)
      }
      // A call that fails may have been counted all the same: the estimate stands for what is not known.
      let used: number | undefined
      try {
        const message = await model.provider.stream(request, watched, signal)
        used = tokensOf(message)
        if (used !== undefined) remember(known, key, { tokens: used, fresh: used - message.usage.cacheRead })
        return message
      } catch (error) {
        if (!ProviderError.isInstance(error)) throw error
        used = error.partial && tokensOf(error.partial)
        if (error.retryAfterMs !== undefined) shared.hold(Math.min(error.retryAfterMs, maxServerDelayMs))
        throw error
      } finally {
        turn.end(used)
      }
    },
  }
  return { ...model, provider }
}

/** What a call is likely to use: as much as the last one of its conversation. */
type Estimate = Required<Pick<TurnAsk, 'tokens' | 'fresh'>>
const unknown: Estimate = { tokens: 1000, fresh: 1000 }

/** The whole prompt, cached or not, and the answer; `undefined` where the service did not count. */
function tokensOf({ usage }: AssistantMessage): number | undefined {
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output
  return tokens === 0 ? undefined : tokens
}

function remember(known: Map<string, Estimate>, key: string, estimate: Estimate): void {
  known.delete(key)
  known.set(key, estimate)
  const [oldest] = known.keys()
  if (known.size > 1000 && oldest !== undefined) known.delete(oldest)
}

/** A conversation keeps its first message, whatever becomes of it. */
function conversationOf({ messages }: StreamRequest): string {
  const [first] = messages
  const id: unknown = first !== undefined && 'id' in first ? first.id : undefined
  return typeof id === 'string' ? id : ''
}
