import type { KnownSecrets } from '../../base/text/redact.ts'
import { secretsIn } from '../../base/text/secrets.ts'
import { asProviderError, callbackFailed, ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamEvent, StreamRequest } from '../../types/model/provider.ts'

/** A call to one of the models that another is made of. */
export interface InnerCall {
  request: StreamRequest
  emit: (event: StreamEvent) => void
  signal: AbortSignal
  /** Where the key of the call is remembered, for the `secrets` of the model that asks. */
  keys: KnownSecrets
}

/** Reports that are no output. */
const beforeOutput: ReadonlySet<StreamEvent['type']> = new Set(['start', 'warning', 'rateLimits', 'fallback'])

/** A failed call, and whether anything of its answer was shown. */
export interface InnerFailure {
  error: ProviderError
  hasOutput: boolean
}

/** What calls to `models` carry that must be in no log: `keys`, and what their addresses, headers and own models hold. */
export function secretsOf(models: Iterable<Model>, keys: KnownSecrets): readonly string[] {
  return keys.with([...models].flatMap(({ config, secrets }) => [...secretsIn(config.baseUrl, config.headers), ...(secrets?.() ?? [])]))
}

/** The one of `models` that gave `message`, and the description of the model within it that did: one that is made of others knows which. */
export function answererOf(models: Iterable<Model>, message: AssistantMessage): { model: Model; config: ModelConfig } | undefined {
  for (const model of models) {
    const { config } = model
    const within = model.answeredBy?.(message)
    if (within !== undefined) return { model, config: within }
    if (config.id === message.model && config.provider === message.provider) return { model, config }
  }
  return undefined
}

/**
 * Asks `model` with its own key. A rejected key that can be refreshed is, once, while nothing was shown. Resolves with the answer or with what failed;
 * never rejects.
 */
export async function callInner(model: Model, { request, emit, signal, keys }: InnerCall): Promise<AssistantMessage | InnerFailure> {
  for (let hasRefreshed = false; ; hasRefreshed = true) {
    let hasOutput = false
    const watched = (event: StreamEvent): void => {
      hasOutput ||= !beforeOutput.has(event.type)
      emit(event)
    }
    try {
      return await model.provider.stream(await keyed(model, request, { signal, keys }), watched, signal)
    } catch (thrown) {
      const error = asProviderError(thrown)
      const mayRefresh = error.code === 'auth' && !hasOutput && !hasRefreshed && !signal.aborted
      if (!mayRefresh || !(await isRefreshed(model))) return { error, hasOutput }
    }
  }
}

/** The request as `model` gets it: for its own configuration, with its own key. */
async function keyed(
  { config, credentials }: Model,
  request: StreamRequest,
  { signal, keys }: Pick<InnerCall, 'signal' | 'keys'>,
): Promise<StreamRequest> {
  const { credential: _ofAnother, ...rest } = request
  if (credentials === undefined) return { ...rest, model: config }
  try {
    const credential = await credentials.current(signal)
    if (typeof credential === 'string') keys.add(credential)
    return { ...rest, model: config, credential }
  } catch (error) {
    throw ProviderError.isInstance(error) ? error : callbackFailed('credentials', error)
  }
}

async function isRefreshed({ credentials }: Model): Promise<boolean> {
  if (credentials === undefined || 'isStatic' in credentials) return false
  try {
    await credentials.invalidate()
    return true
  } catch {
    return false
  }
}

/**
 * Who has failed a short while ago, and is asked last for now. Of this process alone, like the models that share it.
 */
export class CoolDown<Key> {
  readonly #ms: number
  readonly #until = new Map<Key, number>()

  constructor(ms: number) {
    this.#ms = ms
  }

  /** `key` has failed; `retryAfterMs`: how long its service asked to wait. */
  failed(key: Key, retryAfterMs = 0): void {
    this.#until.set(key, performance.now() + Math.max(this.#ms, retryAfterMs))
  }

  /** `key` has answered. */
  worked(key: Key): void {
    this.#until.delete(key)
  }

  /** `keys` in their order, those that have failed lately behind the others, the one that may be asked soonest first. */
  order(keys: readonly Key[]): Key[] {
    const now = performance.now()
    const until = (key: Key): number => Math.max(this.#until.get(key) ?? 0, now)
    return keys.toSorted((a, b) => until(a) - until(b))
  }
}
