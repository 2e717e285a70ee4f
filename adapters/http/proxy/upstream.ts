import type { Context, Env } from 'hono'
import { costConfig } from '../../../src/contract/model/usage.ts'
import {
  aFunction,
  aText,
  closed,
  either,
  kind,
  listOf,
  oneOf,
  options,
  recordOf,
  required,
  type Shape,
  texts,
  withMethods,
} from '../../../src/contract/shape/shape.ts'
import { ConfigError, type CostConfig, type CredentialProvider, type JsonObject } from '../../../src/index.ts'
import { keyFault } from '../../../src/internal.ts'
import { bedrock, bedrockRegion } from '../../../src/providers/bedrock/index.ts'
import type { KnownApi } from '../../../src/providers.ts'
import { faultOfAddress, type KeyPlace, protocols } from './protocols.ts'

/**
 * API key of an upstream: a string, a function of the request, or a credential provider that is notified of rejected keys. On Workers, read
 * secrets from `c.env`.
 */
export type UpstreamKey<E extends Env = Env> = string | ((c: Context<E>) => string | Promise<string>) | CredentialProvider

/** A provider that calls are forwarded to. */
export interface Upstream<E extends Env = Env> {
  /** The upstream's protocol. It determines the paths, the location of the model and the key, and the usage format. */
  api: KnownApi
  /** Base URL, like `baseUrl` of the provider's factory. Default: the provider's own URL. Required for Azure and Vertex AI. */
  baseUrl?: string
  /**
   * API key. For Bedrock, a key or `accessKeyId:secretAccessKey[:sessionToken]` for signing. Optional if the `baseUrl` needs no key.
   */
  apiKey?: UpstreamKey<E>
  /** Where to send the key. Default: the provider's header, or a bearer token for Entra ID and Vertex AI projects. */
  keyPlace?: KeyPlace
  /** Bedrock region. Default: the region in an AWS `baseUrl`, otherwise `us-east-1`. */
  region?: string
  /** Headers added to every call. They override client headers and may contain secrets. */
  headers?: Record<string, string>
  /**
   * Client headers to forward in addition to the protocol's, such as `anthropic-beta`. Must not identify the client.
   */
  passHeaders?: readonly string[]
  /** USD per million tokens, by model, with `*` as in `allow`. The first match applies. */
  prices?: Record<string, CostConfig>
}

/** A call from an accepted caller. */
export interface ModelCall {
  /** The name that `authorize` returned. Absent for `true`. */
  identity?: string
  /** The name of the upstream. */
  upstream: string
  /** All models that the call selects, with the first choice first. */
  models: readonly string[]
  /** The request body. Read-only. */
  body: JsonObject
}

/**
 * An upstream's allowed models: ids, or a function that receives the call. In an id, `*` matches any characters except `/`. A single `*`
 * matches any model.
 */
export type AllowRule = readonly string[] | ((call: ModelCall) => boolean | Promise<boolean>)

const aName = kind('a text that is not empty', (value) => typeof value === 'string' && value.trim() !== '')
const aPresentKey: Shape = { ...aName, inside: (value, path) => keyFault(String(value), path) }
const aKey: Shape = either(aPresentKey, aFunction, withMethods('a credential provider', 'current', 'invalidate'))
/** Headers that identify the client, belong to a single connection, or are set by the proxy. */
const reserved =
  /^(.*(auth|cookie|api-key|token|secret|signature|forwarded).*|host|via|x-real-ip|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-.*|accept-encoding|expect|origin|referer|sec-.*|proxy-.*|x-amz-.*|openai-(organization|project))$/i
const aPassedHeader = kind(
  'a header name that does not identify the caller and that the proxy does not set itself',
  (value) => typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value) && !reserved.test(value),
)
const prices = closed(costConfig)

export const anUpstream: Shape = options<Upstream>({
  api: required(oneOf(...Object.keys(protocols))),
  baseUrl: aText,
  apiKey: aKey,
  keyPlace: oneOf('bearer', 'header'),
  region: aText,
  headers: texts,
  passHeaders: listOf(aPassedHeader),
  prices: recordOf(prices),
})

export const anAllowRule: Shape = either(listOf(aName), aFunction)

/** A resolved upstream. */
export interface ReadyUpstream<E extends Env = Env> {
  name: string
  api: KnownApi
  baseUrl: string
  region: string
  key: UpstreamKey<E> | undefined
  keyPlace: KeyPlace | undefined
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  passes: readonly string[]
  /** Returns the prices of a model, or `undefined` if unknown. */
  priceOf: (model: string) => CostConfig | undefined
  isAllowed: (call: ModelCall) => boolean | Promise<boolean>
}

/** Resolves an upstream. Throws `ConfigError` `invalidOption` with the upstream's name. */
export function readyUpstream<E extends Env>(name: string, upstream: Upstream<E>, rule: AllowRule | undefined): ReadyUpstream<E> {
  const { api, apiKey, keyPlace, region, headers = {}, passHeaders = [], prices = {} } = upstream
  const place = `upstreams.${name}`
  const refuse = (what: string): never => {
    throw new ConfigError('invalidOption', what)
  }
  // The name becomes part of a path.
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) refuse(`upstreams has the name ${JSON.stringify(name)}; use letters, digits, - and _.`)
  if (rule === undefined)
    return refuse(`allow.${name} is missing: list the models of ${place} may be called, such as ["my-model"], or ["*"] for any.`)
  if (apiKey === undefined && upstream.baseUrl === undefined)
    return refuse(`${place}.apiKey is missing. Only your own service with a baseUrl can omit it.`)
  if (api !== 'bedrockConverseStream' && region !== undefined) return refuse(`${place}.region is only for Bedrock.`)
  const baseUrl = upstream.baseUrl ?? addressOf(api, region)
  if (baseUrl === undefined) return refuse(`${place}.baseUrl is missing: ${api} has no default URL.`)
  const fault = faultOfAddress(api, baseUrl)
  if (fault !== undefined) return refuse(`${place}.baseUrl is invalid: ${fault}.`)
  const priced = Object.entries(prices).map(([pattern, price]) => ({ fits: matcher(pattern), price }))
  return {
    name,
    api,
    baseUrl,
    region: region ?? bedrockRegion('', baseUrl),
    key: apiKey,
    keyPlace,
    headers: Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value])),
    passes: [...protocols[api].passes, ...passHeaders.map((header) => header.toLowerCase())],
    priceOf: (model) => priced.find(({ fits }) => fits(model))?.price,
    isAllowed: typeof rule === 'function' ? rule : allowing(rule),
  }
}

function addressOf(api: KnownApi, region: string | undefined): string | undefined {
  if (api !== 'bedrockConverseStream') return protocols[api].baseUrl
  return bedrock('any', region === undefined ? {} : { region }).config.baseUrl
}

function allowing(patterns: readonly string[]): (call: ModelCall) => boolean {
  const matchers = patterns.map(matcher)
  return ({ models }) => models.every((model) => matchers.some((fits) => fits(model)))
}

/** Returns a matcher for `pattern`. A single `*` matches any model; within a name, `*` matches any characters except `/`. */
function matcher(pattern: string): (model: string) => boolean {
  if (pattern === '*') return () => true
  const expression = new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
      .join('[^/]*')}$`,
  )
  return (model) => expression.test(model)
}

/** Returns the key for this call, and whether a rejected key can be refreshed. */
export async function keyFor<E extends Env>(
  { name, key }: ReadyUpstream<E>,
  c: Context<E>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (key === undefined) return undefined
  const found: unknown = typeof key === 'string' ? key : typeof key === 'function' ? await key(c) : await key.current(signal)
  // An unset variable is blank.
  if (typeof found !== 'string' || found.trim() === '') {
    throw new ConfigError('invalidOption', `upstreams.${name}.apiKey returned no key. It must be or return a non-empty string.`)
  }
  const fault = keyFault(found, `The key that upstreams.${name}.apiKey gave`)
  if (fault !== undefined) throw new ConfigError('invalidOption', fault)
  return found
}
