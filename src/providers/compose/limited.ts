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

/** Options for `limited`: priority, and maximum wait. */
export interface LimitedOptions {
  /** Priority. Background calls wait as long as interactive calls are waiting. Default: `person`. */
  priority?: Priority
  /** Maximum milliseconds in the queue. After that, the call fails with `rateLimited` and nothing is sent. Default: unlimited. */
  maxWaitMs?: number
}

const aLimiter = withMethods('a limiter from limiter()', 'turn', 'hold')
const limitedOptions = optionsOf<LimitedOptions>({ priority: priorityWord, maxWaitMs: aNumberFromZero })

/**
 * Wraps `model` so that calls wait for their turn in the limiter `shared`.
 *
 * Source: docs/concepts/models.md
 */
export function limited(model: Model, shared: Limiter, options: LimitedOptions = {}): Model {
  checkOptions(model, aDescribedModel, 'model')
  checkOptions(shared, aLimiter, 'limiter')
  checkOptions(options, limitedOptions)
  const { priority = 'person', maxWaitMs = Infinity } = options
  /** Usage of the last call, by conversation. Evicts the oldest entries. */
  const known = new Map<string, Estimate>()
  const provider: StreamProvider = {
    api: model.provider.api,
    checkMedia: async (media, config) => model.provider.checkMedia?.(media, config),
    encode: (request) => model.provider.encode(request),
    stream: async (request, emit, signal) => {
      const key = conversationOf(request)
      const { provider: service, id } = request.model
      const ask = { key, ...(known.get(key) ?? unknown), model: `${service}/${id}`, priority, signal }
      const turn = await turnBeforeDeadline(shared, ask, id, maxWaitMs)
      const watched = (event: StreamEvent): void => {
        // A composed model emits the limits of its inner models.
        if (event.type === 'rateLimits' && event.of.model === id && event.of.provider === service) turn.report(event.limits)
        emit(event)
      }
      // Read before the call, because the usage of a continued message grows.
      const usedBefore = request.continues?.usage
      // The provider may have counted a failed call. Keeps the estimate if no usage was reported.
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

/** Errors of calls that were never sent. */
const neverSent = new WeakSet<ProviderError>()

/** Returns whether the call failed because a limiter granted it no turn. */
export function isNeverSent(error: ProviderError): boolean {
  return neverSent.has(error)
}

/** Waits for a call's turn, up to `maxWaitMs`. */
async function turnBeforeDeadline(shared: Limiter, ask: LimiterAsk, id: string, maxWaitMs: number): Promise<LimiterTurn> {
  const waiting = new AbortScope(ask.signal)
  const stopTimer = startTimer(maxWaitMs, () => waiting.abort())
  try {
    return await shared.turn({ ...ask, signal: waiting.signal })
  } catch (error) {
    if (ask.signal.aborted) throw new ProviderError('cancelled', `The call to ${id} was cancelled while queued: ${errorText(error)}`)
    throw waiting.aborted ? tooLate(id, maxWaitMs) : error
  } finally {
    stopTimer()
    waiting.release()
  }
}

function tooLate(id: string, maxWaitMs: number): ProviderError {
  const error = new ProviderError(
    'rateLimited',
    `The call to ${id} waited longer than maxWaitMs (${maxWaitMs} ms) at its limiter. Nothing was sent.`,
  )
  neverSent.add(error)
  return error
}

/** Estimates the usage of a call from the previous call in its conversation. */
type Estimate = Required<Pick<LimiterAsk, 'tokens' | 'fresh'>>
const unknown: Estimate = { tokens: 1000, fresh: 1000 }

/**
 * Returns the usage of this call alone: the whole prompt, including cached tokens, and the output. Returns `undefined` if the provider
 * reported none.
 */
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

/** Identifies a conversation by its first message, which never changes. */
function conversationOf({ messages }: StreamRequest): string {
  const [first] = messages
  const id: unknown = first !== undefined && 'id' in first ? first.id : undefined
  return typeof id === 'string' ? id : ''
}
