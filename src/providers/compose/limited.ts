import { AbortScope } from '../../base/abort.ts'
import { aDescribedModel } from '../../base/argument-checks.ts'
import { maxServerDelayMs, startTimer } from '../../base/timer.ts'
import { errorText, ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import { type Usage, usageBeyond } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aNumberFromZero, options as optionsOf, withMethods } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamEvent, StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import { type Limiter, type LimiterAsk, type LimiterTurn, type Priority, priorityWord } from './limiter.ts'

/** How one model uses a limiter. */
export interface LimitedOptions {
  /** Work in the background waits until no person does. Default `person`. */
  priority?: Priority
  /** Milliseconds that a call waits for its turn; then it fails with `rateLimited`, and nothing was sent. Default: as long as it takes. */
  maxWaitMs?: number
}

const aLimiter = withMethods('a limiter, as limiter() makes it', 'turn', 'hold')
const limitedOptions = optionsOf<LimitedOptions>({ priority: priorityWord, maxWaitMs: aNumberFromZero })

/**
 * `model`, whose calls wait for their turn at `shared`.
 *
 * Source: docs/concepts/models.md
 */
export function limited(model: Model, shared: Limiter, options: LimitedOptions = {}): Model {
  checkOptions(model, aDescribedModel, 'model')
  checkOptions(shared, aLimiter, 'limiter')
  checkOptions(options, limitedOptions)
  const { priority = 'person', maxWaitMs = Infinity } = options
  /** What the last call used, by conversation; the oldest are forgotten. */
  const known = new Map<string, Estimate>()
  const provider: StreamProvider = {
    api: model.provider.api,
    checkMedia: async (media, config) => model.provider.checkMedia?.(media, config),
    encode: (request) => model.provider.encode(request),
    stream: async (request, emit, signal) => {
      const key = conversationOf(request)
      const { provider: service, id } = request.model
      const ask = { key, ...(known.get(key) ?? unknown), model: `${service}/${id}`, priority, signal }
      const turn = await turnInTime(shared, ask, id, maxWaitMs)
      const watched = (event: StreamEvent): void => {
        // A model that is made of others tells of theirs.
        if (event.type === 'rateLimits' && event.of.model === id && event.of.provider === service) turn.said(event.limits)
        emit(event)
      }
      // Read now: the message that is continued grows, and its usage with it.
      const usedBefore = request.continues?.usage
      // A call that fails may have been counted all the same: the estimate stands for what is not known.
      let used: Estimate | undefined
      try {
        const message = await model.provider.stream(request, watched, signal)
        used = estimateOf(message, usedBefore)
        if (used !== undefined) remember(known, key, used)
        return message
      } catch (error) {
        if (!ProviderError.isInstance(error)) throw error
        used = error.partial && estimateOf(error.partial, usedBefore)
        if (error.retryAfterMs !== undefined) shared.hold(Math.min(error.retryAfterMs, maxServerDelayMs))
        throw error
      } finally {
        turn.end(used?.tokens)
      }
    },
  }
  return { ...model, provider }
}

/** Errors of calls that no service has seen: they say nothing of a model. */
const neverSent = new WeakSet<ProviderError>()

/** Whether the call failed because a limiter had no turn for it. */
export function isNeverSent(error: ProviderError): boolean {
  return neverSent.has(error)
}

/** The turn of a call to the model `id`, unless it takes too long. */
async function turnInTime(shared: Limiter, ask: LimiterAsk, id: string, maxWaitMs: number): Promise<LimiterTurn> {
  const waiting = new AbortScope(ask.signal)
  const stopTimer = startTimer(maxWaitMs, () => waiting.abort())
  try {
    return await shared.turn({ ...ask, signal: waiting.signal })
  } catch (error) {
    if (ask.signal.aborted)
      throw new ProviderError('cancelled', `The call to ${id} was cancelled while it waited for its turn: ${errorText(error)}`)
    throw waiting.aborted ? tooLate(id, maxWaitMs) : error
  } finally {
    stopTimer()
    waiting.release()
  }
}

function tooLate(id: string, maxWaitMs: number): ProviderError {
  const error = new ProviderError(
    'rateLimited',
    `The call to ${id} had no turn at its limiter within ${maxWaitMs} ms, its maxWaitMs. Nothing was sent.`,
  )
  neverSent.add(error)
  return error
}

/** What a call is likely to use: as much as the last one of its conversation. */
type Estimate = Required<Pick<LimiterAsk, 'tokens' | 'fresh'>>
const unknown: Estimate = { tokens: 1000, fresh: 1000 }

/** The whole prompt, cached or not, and the answer, of this call alone; `undefined` where the service did not count. */
function estimateOf({ usage: whole }: AssistantMessage, before: Usage | undefined): Estimate | undefined {
  const { input, cacheRead, cacheWrite, output } = before === undefined ? whole : usageBeyond(whole, before)
  const fresh = input + cacheWrite + output
  return fresh + cacheRead === 0 ? undefined : { tokens: fresh + cacheRead, fresh }
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
