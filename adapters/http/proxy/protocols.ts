import { isEntraToken, serviceAddresses } from '../../../src/internal.ts'
import { headerCredential, joinUrl, type KnownApi } from '../../../src/providers.ts'

/** The client-controlled part of a path. The server defines the rest. */
export interface PathCall {
  /** The decoded model. Absent if the body specifies the model. */
  model?: string
  /** The provider's name for the kind of call. Absent if there is only one kind. */
  action?: string
  /** Known query parameters, to forward. */
  query: URLSearchParams
}

/** Where to send the key. `header` is the provider's usual header. */
export type KeyPlace = 'bearer' | 'header'

/** A protocol that the proxy serves. */
export interface Protocol {
  /** The provider's base URL. Absent if it depends on the account. */
  baseUrl?: string
  /**
   * Paths after the upstream name, as Hono patterns: those that the factories of `phi-core/providers` call with a `baseUrl`, and those that
   * other programs call without streaming. `:model` is a segment. `:call` is a model and an action.
   */
  paths(baseUrl: string): readonly string[]
  /** Builds the URL from the server's `baseUrl` and validated parts, never from the received path. */
  url(baseUrl: string, call: PathCall): string
  /** Patterns that match known query parameters. */
  query?: Readonly<Record<string, RegExp>>
  /** Returns the key as headers. Absent if calls are signed; see `forward`. */
  key?(key: string, place: KeyPlace | undefined, baseUrl: string): Record<string, string>
  /** Client headers to forward. */
  passes: readonly string[]
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${headerCredential('upstream', key)}` })
const own =
  (name: string) =>
  (key: string): Record<string, string> => ({ [name]: headerCredential('upstream', key) })
const placed =
  (name: string): NonNullable<Protocol['key']> =>
  (key, place) =>
    place === 'bearer' ? bearer(key) : own(name)(key)

const actions = ['streamGenerateContent', 'generateContent']

/** The protocols that the proxy serves. Source: docs/guides/keys-and-proxies.md */
export const protocols: Readonly<Record<KnownApi, Protocol>> = {
  anthropicMessages: {
    baseUrl: serviceAddresses.anthropic,
    paths: () => ['/v1/messages'],
    url: (baseUrl) => joinUrl(baseUrl, '/v1/messages'),
    key: placed('x-api-key'),
    passes: ['anthropic-version'],
  },
  openAiCompletions: {
    baseUrl: serviceAddresses.openai,
    paths: () => ['/chat/completions', '/v1/chat/completions'],
    url: (baseUrl) => joinUrl(baseUrl, `${versionOf(baseUrl)}/chat/completions`),
    key: bearer,
    // Headers that GitHub Copilot uses to classify a call.
    passes: ['x-initiator', 'copilot-vision-request'],
  },
  openAiResponses: {
    baseUrl: serviceAddresses.openai,
    paths: () => ['/responses', '/v1/responses'],
    url: (baseUrl) => joinUrl(baseUrl, `${versionOf(baseUrl)}/responses`),
    key: bearer,
    passes: [],
  },
  azureOpenAiResponses: {
    paths: () => ['/openai/v1/responses', '/openai/responses', '/v1/responses', '/responses'],
    url: (baseUrl, { query }) =>
      withQuery(joinUrl(azureRoot(baseUrl), query.has('api-version') ? '/openai/responses' : '/openai/v1/responses'), query),
    query: { 'api-version': /^\d{4}-\d{2}-\d{2}(-preview)?$/ },
    key: (key, place) => (place === 'bearer' || (place === undefined && isEntraToken(key.trim())) ? bearer(key) : own('api-key')(key)),
    passes: [],
  },
  googleGenerativeAi: {
    baseUrl: serviceAddresses.google,
    paths: () => ['/v1beta/models/:call{.+}', '/v1/models/:call{.+}', '/models/:call{.+}'],
    url: (baseUrl, call) => geminiUrl(modelsOf(baseUrl), call),
    query: { alt: /^sse$/ },
    key: placed('x-goog-api-key'),
    passes: [],
  },
  googleVertex: {
    paths: (baseUrl) => [`${vertexPath(baseUrl)}/:call{.+}`, '/v1/publishers/google/models/:call{.+}', '/models/:call{.+}'],
    url: geminiUrl,
    query: { alt: /^sse$/ },
    key: (key, place, baseUrl) => placed('x-goog-api-key')(key, place ?? (baseUrl.includes('/projects/') ? 'bearer' : 'header'), baseUrl),
    passes: [],
  },
  bedrockConverseStream: {
    paths: () => ['/model/:model/converse-stream', '/model/:model/converse'],
    url: (baseUrl, { model = '', action = '' }) => joinUrl(baseUrl, `/model/${encodeURIComponent(model)}/${action}`),
    passes: [],
  },
}

/** Returns the reason why an upstream's base URL is invalid, or `undefined` if it is valid. */
export function faultOfAddress(api: KnownApi, baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return 'it is not an absolute URL'
  const { protocol, username, password, hash, pathname } = new URL(baseUrl)
  if (protocol !== 'https:' && protocol !== 'http:') return 'it is neither https nor http'
  if (username !== '' || password !== '') return 'it contains credentials; pass the key as apiKey'
  if (hash !== '') return 'it has a fragment'
  const isModels = /\/(models|endpoints)\/*$/.test(pathname)
  if (api === 'googleVertex' && !isModels) return "it does not end with /models; take vertex('any', { project, location }).config.baseUrl"
  return undefined
}

/** Parses a call's path. Returns `undefined` if the protocol does not have the path. */
export function parsePathCall(
  api: KnownApi,
  params: Record<string, string | undefined>,
  path: string,
  query: URLSearchParams,
): PathCall | undefined {
  const known = new URLSearchParams()
  for (const [name, pattern] of Object.entries(protocols[api].query ?? {})) {
    const value = query.get(name)
    if (value !== null && pattern.test(value)) known.set(name, value)
  }
  const { model, call } = params
  if (model !== undefined) return { model, action: path.endsWith('/converse') ? 'converse' : 'converse-stream', query: known }
  if (call === undefined) return { query: known }
  const colon = call.lastIndexOf(':')
  const action = call.slice(colon + 1)
  return colon > 0 && actions.includes(action) ? { model: call.slice(0, colon), action, query: known } : undefined
}

/** Returns whether a text is a possible model id, which cannot change the path. */
export function isModelId(id: string): boolean {
  return /^[\w.:@/+~-]{1,256}$/.test(id) && id.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
}

/** Adds the API version to a bare host, like the factories. */
function versionOf(baseUrl: string): string {
  return new URL(baseUrl).pathname === '/' ? '/v1' : ''
}

/** Returns the resource's base URL, for any of its URL forms. */
function azureRoot(baseUrl: string): string {
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/openai(\/v1)?(\/responses)?$/, '')
  return url.href
}

/** Returns the path that the factory appends to a `baseUrl`, starting at the version. */
function vertexPath(baseUrl: string): string {
  const path = new URL(baseUrl).pathname.replace(/\/+$/, '')
  return /\/v\d\w*\/(projects|publishers)\/.*$/.exec(path)?.[0] ?? path
}

function modelsOf(baseUrl: string): string {
  const { pathname } = new URL(baseUrl)
  if (/\/models\/*$/.test(pathname)) return baseUrl
  return joinUrl(baseUrl, /\/v\d\w*\/*$/.test(pathname) ? '/models' : '/v1beta/models')
}

function geminiUrl(modelsUrl: string, { model = '', action = '', query }: PathCall): string {
  return withQuery(joinUrl(modelsUrl, `/${model.split('/').map(encodeURIComponent).join('/')}:${action}`), query)
}

function withQuery(address: string, query: URLSearchParams): string {
  const url = new URL(address)
  for (const [name, value] of query) url.searchParams.set(name, value)
  return url.href
}
