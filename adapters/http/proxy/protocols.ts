import { isEntraToken, serviceAddresses } from '../../../src/internal.ts'
import { headerCredential, joinUrl, type KnownApi } from '../../../src/providers.ts'

/** A call as its path says it; everything else of the path is the server's. */
export interface PathCall {
  /** The model, decoded; absent where the body names it. */
  model?: string
  /** What the service calls the kind of call; absent where there is one. */
  action?: string
  /** Of the query only what is known. */
  query: URLSearchParams
}

/** Where a key goes: `header` is the service's own. */
export type KeyPlace = 'bearer' | 'header'

/** What the proxy knows of one protocol. */
export interface Protocol {
  /** The address of the service; absent where only its owner knows it. */
  baseUrl?: string
  /**
   * What may follow the name of the upstream, as patterns of Hono: what the factories of `phi-core/providers` call with a `baseUrl`, and other
   * programs without streaming. `:model` stands for a segment, `:call` for a model and an action.
   */
  paths(baseUrl: string): readonly string[]
  /** Where a call is sent: made of the server's `baseUrl` and what was checked, never of the path that came. */
  url(baseUrl: string, call: PathCall): string
  /** Of which the query of a call may be. */
  query?: Readonly<Record<string, RegExp>>
  /** The key as headers. Absent: it is signed, see `forward`. */
  key?(key: string, place: KeyPlace | undefined, baseUrl: string): Record<string, string>
  /** Headers of a client that are passed on. */
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

/** All that the proxy serves. Source: docs/guides/keys-and-proxies.md */
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
    // What GitHub Copilot is told about a call.
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

/** What is wrong with the address of an upstream. */
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

/** What a path says about a call; `undefined` for one that says nothing the protocol knows. */
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

/** Whether a text can be the id of a model: nothing of it can lead a path elsewhere. */
export function isModelId(id: string): boolean {
  return /^[\w.:@/+~-]{1,256}$/.test(id) && id.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
}

/** A bare host gets the version that every service has, as in the factories. */
function versionOf(baseUrl: string): string {
  return new URL(baseUrl).pathname === '/' ? '/v1' : ''
}

/** The address of the resource, whichever of its forms was given. */
function azureRoot(baseUrl: string): string {
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/openai(\/v1)?(\/responses)?$/, '')
  return url.href
}

/** The path as the factory writes it behind a `baseUrl`: from the version on. */
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
