import { aModel } from '../../base/argument-checks.ts'
import { KnownSecrets } from '../../base/text/redact.ts'
import { callbackFailed, ProviderError } from '../../contract/errors.ts'
import { type AssistantMessage, assistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { unknownCost } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, anything, fieldsOf, listOf, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import { answererOf, callInner, secretsOf } from './inner-call.ts'

/** Selects the model for a request, which contains no key. */
export type RouteChoice = (request: StreamRequest) => Model | Promise<Model>

const routeOptions = optionsOf<{ like?: Model }>({ like: aModel })

/**
 * Creates a model that selects another model for each request.
 *
 * **Contract**
 * - `like` provides the context window, prices and name until a model is selected. Default: a model named `route` with 200,000 tokens.
 * - A paused response continues with the model that started it. The responding model's prices apply; if it has none, a run with a cost
 *   limit ends.
 * - If `choose` throws or returns no model, the call fails with an error that mentions `route`.
 *
 * Source: docs/concepts/models.md
 *
 * @example
 * ```ts
 * const model = route(({ messages }) => (messages.length > 20 ? large : small), { like: small })
 * ```
 */
export function route(choose: RouteChoice, options: { like?: Model } = {}): Model {
  checkOptions(choose, aFunction, 'choose')
  checkOptions(options, routeOptions)
  const { like } = options
  const known = new Map<string, Model>()
  const keys = new KnownSecrets()
  const modelFor = async (request: StreamRequest): Promise<Model> => {
    const begun = request.continues && answererOf(known.values(), request.continues)?.model
    return begun ?? (await chosen(choose, request))
  }
  const provider: StreamProvider = {
    api: like?.config.api ?? 'route',
    encode: async (request) => {
      const model = await modelFor(request)
      return model.provider.encode({ ...request, model: model.config })
    },
    stream: async (request, emit, signal) => {
      const model = await modelFor(request)
      known.set(JSON.stringify([model.config.provider, model.config.id]), model)
      const answer = await callInner(model, { request, emit, signal, keys })
      if ('error' in answer) throw answer.error
      return answer
    },
  }
  return {
    config: like?.config ?? unnamed,
    provider,
    answeredBy: (message) => answererOf(known.values(), message)?.config,
    secrets: () => secretsOf(known.values(), keys),
  }
}

async function chosen(choose: RouteChoice, { credential: _key, ...request }: StreamRequest): Promise<Model> {
  try {
    const model = await choose(request)
    checkOptions(model, aModel, 'route()')
    return model
  } catch (error) {
    throw ProviderError.isInstance(error) ? error : callbackFailed('route', error)
  }
}

const unnamed: ModelConfig = {
  ...{ id: 'route', name: 'route', api: 'route', provider: 'route', baseUrl: '', reasoning: true, contextWindow: 200_000, maxTokens: 0 },
  cost: unknownCost,
  headers: {},
}

/** Hooks of `withMiddleware` around each call. */
export interface Middleware {
  /** Returns the request to send. The request contains no key. */
  request?: (request: StreamRequest) => StreamRequest | Promise<StreamRequest>
  /** Returns the final message. Streamed deltas were already emitted. */
  response?: (message: AssistantMessage, request: StreamRequest) => AssistantMessage | Promise<AssistantMessage>
}

const middlewareOptions = optionsOf<Middleware>({ request: aFunction, response: aFunction })
/** Fields that the codecs require. */
const aRequest = fieldsOf({ model: anything, messages: listOf(anything), tools: listOf(anything) })

/**
 * Wraps `model` with hooks: `request` before each call, `response` after it.
 *
 * **Contract**
 * - If a hook throws, or returns no request or response, the call fails with an error that names the hook. A `ProviderError` passes
 *   through unchanged.
 * - The key is added after `request`, so hooks never see it. Throws `ConfigError` `invalidOption` for an unknown option.
 *
 * Source: docs/concepts/models.md
 */
export function withMiddleware(model: Model, middleware: Middleware): Model {
  checkOptions(model, aModel, 'model')
  checkOptions(middleware, middlewareOptions)
  const { request: before, response: after } = middleware
  const changed = async ({ credential: _key, ...open }: StreamRequest): Promise<StreamRequest> => {
    if (before === undefined) return open
    return named('middleware request', async () => {
      const asked = await before(open)
      checkOptions(asked, aRequest, 'request()')
      return asked
    })
  }
  const answered = async (message: AssistantMessage, asked: StreamRequest): Promise<AssistantMessage> => {
    if (after === undefined) return message
    return named('middleware response', async () => {
      const answer = await after(message, asked)
      checkOptions(answer, assistantMessage, 'response()')
      return answer
    })
  }
  const provider: StreamProvider = {
    api: model.provider.api,
    checkMedia: async (media, config) => model.provider.checkMedia?.(media, config),
    encode: async (request) => model.provider.encode(await changed(request)),
    stream: async (request, emit, signal) => {
      const asked = await changed(request)
      const sent = request.credential === undefined ? asked : { ...asked, credential: request.credential }
      return answered(await model.provider.stream(sent, emit, signal), asked)
    },
  }
  return { ...model, provider }
}

async function named<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw ProviderError.isInstance(error) ? error : callbackFailed(name, error)
  }
}
