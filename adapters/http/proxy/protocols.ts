import { isEntraToken, serviceAddresses } from '../../../src/internal.ts'
import { headerCredential, joinUrl, type KnownApi } from '../../../src/providers.ts'

/** The part of a path that a call uses; the server defines the rest. */
export interface PathCall {
  /** The model, decoded; absent if the body names it. */
  model?: string
  /** The provider's name for the kind of call; absent if there is one kind. */
  action?: string
  /** Known query parameters. */
  query: URLSearchParams
}

/** Place of the key: `header` is the provider's own. */
export type KeyPlace = 'bearer' | 'header'

/** Description of a protocol. */
export interface Protocol {
  /** The provider's base URL; absent if it depends on the account. */
  baseUrl?: string
  /**
   * Paths after the upstream name, as Hono patterns: those that the factories of `phi-core/providers` call with a `baseUrl`, and
   * those of other programs without streaming. `:model` is a segment, `:call` a model and an action.
   */
  paths(baseUrl: string): readonly string[]
  /** Builds the URL from the server's `baseUrl` and checked parts, never from the received path. */
  url(baseUrl: string, call: PathCall): string
  /** Patterns of known query parameters. */
  query?: Readonly<Record<string, RegExp>>
  /** Returns the key as headers. Absent: the call is signed, see `forward`. */
  key?(key: string, place: KeyPlace | undefined, baseUrl: string): Record<string, string>
  /** Headers of a client that are forwarded. */
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
    // Headers with which GitHub Copilot classifies a call.
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

/** Returns what is wrong with the base URL of an upstream. */
export function faultOfAddress(api: KnownApi, baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return 'it is not an absolute URL'
  const { protocol, username, password, hash, pathname } = new URL(baseUrl)
  if (protocol !== 'https:' && protocol !== 'http:') return 'it is neither https nor http'
  if (username !== '' || password !== '') return 'it holds a user; give the key as apiKey'
  if (hash !== '') return 'it has a fragment'
  const isModels = /\/(models|endpoints)\/*$/.test(pathname)
  if (api === 'googleVertex' && !isModels) return "it does not end with /models; take vertex('any', { project, location }).config.baseUrl"
  return undefined
}

/** Parses the path of a call; `undefined` if the protocol does not have it. */
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

/** Returns whether a text can be a model id: it cannot change the path. */
export function isModelId(id: string): boolean {
  return /^[\w.:@/+~-]{1,256}$/.test(id) && id.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
}

/** Adds the version of the API to a bare host, as the factories do. */
function versionOf(baseUrl: string): string {
  return new URL(baseUrl).pathname === '/' ? '/v1' : ''
}

/** Returns the base URL of the resource, for any of its forms. */
function azureRoot(baseUrl: string): string {
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/openai(\/v1)?(\/responses)?$/, '')
  return url.href
}

/** Returns the path that the factory appends to a `baseUrl`: from the version on. */
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
