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

/** Picks the model of a request. It sees no key. */
export type RouteChoice = (request: StreamRequest) => Model | Promise<Model>

const routeOptions = optionsOf<{ like?: Model }>({ like: aModel })

/**
 * A model that asks `choose` which model answers each request.
 *
 * **Contract**
 * - `like` describes it to the agent before a model is chosen: context window, prices, name. Default: a model named `route` of 200,000 tokens.
 * - A paused answer goes on at the model that began it. The prices of the model that answered count; a run whose cost is limited ends where it has none.
 * - What `choose` throws, or returns that is no model, fails the call and names `route`.
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

/** What `withMiddleware` does around each call. */
export interface Middleware {
  /** The request in place of the one that was made. It sees no key. */
  request?: (request: StreamRequest) => StreamRequest | Promise<StreamRequest>
  /** The answer in place of the one that came, once it is whole. A piece that was streamed has been seen. */
  response?: (message: AssistantMessage, request: StreamRequest) => AssistantMessage | Promise<AssistantMessage>
}

const middlewareOptions = optionsOf<Middleware>({ request: aFunction, response: aFunction })
/** As much as our codecs rely on. */
const aRequest = fieldsOf({ model: anything, messages: listOf(anything), tools: listOf(anything) })

/**
 * `model` with code around each of its calls: `request` before it, `response` after it.
 *
 * **Contract**
 * - If one of them throws, or returns no request or answer, the call fails, and the error names it. A `ProviderError` that it throws stays what it is.
 * - The key is added after `request`, and is in neither. Throws `ConfigError` `invalidOption` for what is no option.
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
