import { catchLate } from '../../base/abort.ts'
import { aDescribedModel } from '../../base/argument-checks.ts'
import { KnownSecrets } from '../../base/text/redact.ts'
import { ConfigError, callbackFailed, ProviderError, type ProviderErrorCode, providerErrorCode } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { kindOf } from '../../contract/shape/json-fault.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, aNumberFromZero, either, listOf, options as optionsOf, withExpected } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import { answererOf, CoolDown, callInner, type InnerCall, secretsOf } from './inner-call.ts'
import { isNeverSent } from './limited.ts'

/** Options for `fallback`: which errors trigger it, and how long a failed model is tried last. */
export interface FallbackOptions {
  /**
   * Error codes that switch to the next model, or a function that decides. Default: all except `cancelled`, `contextOverflow` and
   * `other`.
   */
  on?: readonly ProviderErrorCode[] | ((error: ProviderError, model: ModelConfig) => boolean)
  /** Milliseconds during which a failed model is tried last. A longer `retry-after` from the provider takes precedence. Default: 30,000. */
  coolDownMs?: number
}

const fallbackOptions = optionsOf<FallbackOptions>({ on: either(aFunction, listOf(providerErrorCode)), coolDownMs: aNumberFromZero })
const someModels = listOf(withExpected(aDescribedModel, 'a model from a factory'))

const usual: readonly ProviderErrorCode[] = ['api', 'network', 'auth', 'rateLimited', 'schemaMismatch', 'unsupported', 'unsupportedMedia']
/** Errors that concern one request, not the model. */
const ofTheRequest: readonly ProviderErrorCode[] = ['schemaMismatch', 'unsupported', 'unsupportedMedia', 'contextOverflow']

/**
 * Creates a model that tries `models` in order until one responds.
 *
 * **Contract**
 * - If a model fails before any output, the next model is tried immediately. Only a `modelFallback` event is emitted. After output, the
 *   failed message ends as in a retry, and the next attempt uses another model.
 * - Each model has its own key, settings and capabilities. Reasoning and provider state are sent back only to the model that issued them.
 *   The response records its model, whose prices apply.
 * - If a model rejects media, the next model still receives them. Only the last model is retried without the media.
 * - A failed model is tried last for a while. Only this object in this process tracks failures, so share it between agents.
 * - If all models fail, the call fails with the last error, which determines whether the call is retried.
 * - The context window is the smallest of all models. Throws `ConfigError` `invalidOption` without a model, and for an invalid option.
 *
 * Source: docs/concepts/models.md
 *
 * @example
 * ```ts
 * const model = fallback([anthropic('claude-sonnet-5', { apiKey }), openai('gpt-5.5', { apiKey: openaiKey })])
 * ```
 */
export function fallback(models: readonly Model[], options: FallbackOptions = {}): Model {
  checkOptions(models, someModels, 'models')
  checkOptions(options, fallbackOptions)
  const [first] = models
  if (first === undefined)
    throw new ConfigError('invalidOption', 'fallback() needs at least one model. Pass a list, the preferred one first.')
  const { on = usual, coolDownMs = 30_000 } = options
  const decides = typeof on === 'function' ? asked(on) : (error: ProviderError) => on.includes(error.code)
  const chain = { models, decides, coolDown: new CoolDown<Model>(coolDownMs), keys: new KnownSecrets() }
  const { settings, ...config } = first.config
  const unusable = models.find((model) => model.unusable !== undefined)?.unusable
  return {
    config: {
      ...config,
      contextWindow: Math.min(...models.map((model) => model.config.contextWindow)),
      ...(settings?.thinking !== undefined && { settings: { thinking: settings.thinking } }),
    },
    provider: chained(chain, first),
    alternatives: models.flatMap(({ config, alternatives = [] }) => [config, ...alternatives]),
    answeredBy: (message) => answererOf(models, message)?.config,
    secrets: () => secretsOf(models, chain.keys),
    ...(unusable !== undefined && { unusable }),
  }
}

/** Wraps `on`. The call fails if `on` throws or does not return a boolean, because a promise would count as true. */
function asked(on: Chain['decides']): Chain['decides'] {
  return (error, model) => {
    try {
      const answer: unknown = on(error, model)
      if (typeof answer === 'boolean') return answer
      catchLate(answer, () => undefined)
      throw new TypeError(`it returned ${kindOf(answer)} instead of true or false`)
    } catch (thrown) {
      throw callbackFailed('on of fallback', thrown)
    }
  }
}

interface Chain {
  models: readonly Model[]
  decides: (error: ProviderError, model: ModelConfig) => boolean
  coolDown: CoolDown<Model>
  keys: KnownSecrets
}

function chained(chain: Chain, first: Model): StreamProvider {
  return {
    api: first.config.api,
    encode: async (request) => {
      const [next = first] = inOrder(chain, request.continues)
      return next.provider.encode({ ...request, model: next.config })
    },
    stream: (request, emit, signal) => firstAnswer(chain, { request, emit, signal, keys: chain.keys }),
  }
}

async function firstAnswer(chain: Chain, call: InnerCall): Promise<AssistantMessage> {
  const { coolDown, decides } = chain
  const queue = inOrder(chain, call.request.continues)
  const preferred = chain.models[0]
  let failed: { model: Model; error: ProviderError } | undefined
  for (const [at, model] of queue.entries()) {
    if (failed !== undefined) announce(call, failed.model, model, failed.error)
    else if (model !== preferred && call.request.continues === undefined && preferred !== undefined) announce(call, preferred, model)
    const isLast = at === queue.length - 1
    const request: StreamRequest = isLast ? call.request : { ...call.request, keepsMedia: true }
    const answer = await callInner(model, { ...call, request })
    if (!('error' in answer)) {
      coolDown.worked(model)
      return answer
    }
    const { error, hasOutput } = answer
    failed = { model, error }
    if (call.signal.aborted || error.code === 'cancelled' || !decides(error, model.config)) throw error
    if (!ofTheRequest.includes(error.code) && !isNeverSent(error)) coolDown.failed(model, error.retryAfterMs)
    if (isLast) throw error
    if (hasOutput) throw repeatable(error)
  }
  throw failed?.error ?? new ConfigError('invalidOption', 'fallback() has no model.')
}

/** Marks an error as retryable, because the next attempt uses another model. */
function repeatable(error: ProviderError): ProviderError {
  const { code, message, status, limits, partial } = error
  const known = {
    ...(status !== undefined && { status }),
    ...(limits !== undefined && { limits }),
    ...(partial !== undefined && { partial }),
  }
  return new ProviderError(code, message, { ...known, isRetryable: true, cause: error })
}

function announce({ emit }: InnerCall, from: Model, to: Model, error?: ProviderError): void {
  const names = ({ config: { provider, id } }: Model) => ({ provider, model: id })
  const why = error === undefined ? {} : { error: { code: error.code, message: error.message } }
  emit({ type: 'fallback', from: names(from), to: names(to), ...why })
}

/** Returns the models in order. A paused response continues with the model that started it. */
function inOrder({ models, coolDown }: Chain, continues: AssistantMessage | undefined): Model[] {
  const begun = continues && answererOf(models, continues)?.model
  return begun === undefined ? coolDown.order(models) : [begun]
}
