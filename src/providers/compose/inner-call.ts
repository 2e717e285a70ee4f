import type { KnownSecrets } from '../../base/text/redact.ts'
import { secretsIn } from '../../base/text/secrets.ts'
import { asProviderError, callbackFailed, ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamEvent, StreamRequest } from '../../types/model/provider.ts'

/** A call to a model within a composed model. */
export interface InnerCall {
  request: StreamRequest
  emit: (event: StreamEvent) => void
  signal: AbortSignal
  /** Collects the call's key, for `secrets` of the outer model. */
  keys: KnownSecrets
}

/** Event types that do not count as output. */
const beforeOutput: ReadonlySet<StreamEvent['type']> = new Set(['start', 'warning', 'rateLimits', 'fallback'])

/** A failed call, and whether any output was emitted. */
export interface InnerFailure {
  error: ProviderError
  hasOutput: boolean
}

/** Returns all secrets of `models` for redaction: `keys`, and secrets in URLs, headers and inner models. */
export function secretsOf(models: Iterable<Model>, keys: KnownSecrets): readonly string[] {
  return keys.with([...models].flatMap(({ config, secrets }) => [...secretsIn(config.baseUrl, config.headers), ...(secrets?.() ?? [])]))
}

/** Returns the model that produced `message`, and the innermost model's configuration. */
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
 * Calls `model` with its own key. Before any output, refreshes a rejected key once. Resolves with the response or the failure. Never
 * rejects.
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

/** Returns the request with the model's own configuration and key. */
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

/** Tracks recent failures in this process, so that failed models or keys are tried last. */
export class CoolDown<Key> {
  readonly #ms: number
  readonly #until = new Map<Key, number>()

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Records a failure. `retryAfterMs`: the delay that the provider requested. */
  failed(key: Key, retryAfterMs = 0): void {
    this.#until.set(key, performance.now() + Math.max(this.#ms, retryAfterMs))
  }

  /** Records a success. */
  worked(key: Key): void {
    this.#until.delete(key)
  }

  /** Sorts `keys`, with recent failures last, ordered by the time they become available. */
  order(keys: readonly Key[]): Key[] {
    const now = performance.now()
    const until = (key: Key): number => Math.max(this.#until.get(key) ?? 0, now)
    return keys.toSorted((a, b) => until(a) - until(b))
  }
}
