import { AbortScope } from '../../base/abort.ts'
import { isRedirect } from '../../base/http-answer.ts'
import { percentEncoded } from '../../base/text/characters.ts'
import { headerSecrets, isSecretHeader, withoutSecrets } from '../../base/text/secrets.ts'
import { startTimer } from '../../base/timer.ts'
import { errorText, PhiError, ToolError } from '../../contract/errors.ts'
import { isObject, type JsonObject, ownOf } from '../../contract/json.ts'
import { isHeaderValue } from '../../contract/model/request-settings.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import { hasDotSegment, type Operation } from '../operations.ts'
import { defaultTimeoutMs, type OpenApiToolsOptions } from '../options.ts'
import { readBody } from './answer.ts'
import type { Inputs, Parameter } from './parameters.ts'

import { type Authorization, authorize } from './security.ts'
import { formBody, headerText, multipartBody, pathText, queryPairs } from './serialize.ts'
import { statusText } from './status-text.ts'

/** A redirect's target. `isFollowed` is true if the target has the same origin and the hop limit is not reached. */
interface Redirect {
  /** `undefined` in browsers, which hide it, and if it is not a URL. */
  to: URL | undefined
  /** The target as the server sent it. */
  location: string
  isFollowed: boolean
}

const maxRedirects = 5

/**
 * Decides about redirects: the package follows them itself, within the same origin only. Otherwise credentials could leak, or a public
 * document could be read from a private network. Returns `undefined` if the response is not a redirect.
 */
export function redirectOf(response: Response, from: URL, hops: number): Redirect | undefined {
  if (response.type === 'opaqueredirect') return { to: undefined, location: '', isFollowed: false }
  const location = response.headers.get('location')
  if (location === null || !isRedirect(response)) return undefined
  const to = URL.parse(location, from) ?? undefined
  const isHere = to?.origin === from.origin && to.username === '' && to.password === ''
  return { to, location, isFollowed: isHere && hops < maxRedirects }
}

/** Everything that a call needs except its arguments. */
export interface CallPlan {
  readonly operation: Operation
  readonly baseUrl: string
  readonly inputs: Inputs
  readonly authorizations: readonly Authorization[]
  readonly options: OpenApiToolsOptions
}

/** The request to send. */
interface Prepared {
  method: string
  url: URL
  headers: Headers
  body?: string | FormData
  secrets: string[]
}

/** Error for arguments that make no valid call. The model reads the message. */
class Refusal extends Error {}

/**
 * Calls an operation. A response of any status is text. Invalid arguments are an error result.
 *
 * - Throws `ToolError`: `timeout`, `cancelled`, or `failed` if there is no response.
 * - Redacts secrets in results and errors, even if the service echoes a secret.
 */
export async function callOperation(plan: CallPlan, args: unknown, signal: AbortSignal): Promise<ToolResult> {
  const { operation, options, baseUrl } = plan
  const { timeoutMs = defaultTimeoutMs } = options
  const secrets = Object.entries(options.headers ?? {}).flatMap(([name, value]) => (isSecretHeader(name) ? headerSecrets(value) : []))
  const what = `${operation.method} ${baseUrl}${operation.path}`
  const scope = new AbortScope(signal)
  const stopTimer = startTimer(timeoutMs, () => scope.abort(new ToolError('timeout', `${what} did not respond within ${timeoutMs} ms`)))
  try {
    scope.throwIfAborted()
    return await scope.race(sent(plan, args, scope.signal, secrets))
  } catch (error) {
    if (error instanceof Refusal) return { content: [{ type: 'text', text: `Error: ${error.message}` }], isError: true }
    if (signal.aborted) throw new ToolError('cancelled', 'Cancelled')
    if (scope.aborted) throw scope.reason
    const why = withoutSecrets(errorText(error), secrets)
    throw PhiError.isInstance(error) ? new ToolError('failed', why) : new ToolError('failed', `${what} failed: ${why}`)
  } finally {
    stopTimer()
    // Release the call's resources, such as an unread body.
    scope.abort(new ToolError('cancelled', 'The call has ended'))
    scope.release()
  }
}

async function sent(plan: CallPlan, args: unknown, signal: AbortSignal, secrets: string[]): Promise<ToolResult> {
  const given = args ?? {}
  if (!isObject(given)) throw new Refusal('params must be an object')
  const request = await prepare(plan, given, signal)
  secrets.push(...request.secrets)
  const { maxResponseBytes = 65_536 } = plan.options
  const clean = (text: string): string => withoutSecrets(text, secrets)
  const { response, note } = await exchange(plan.options.fetch ?? fetch, request, signal, clean)
  const longest = secrets.reduce((most, secret) => Math.max(most, JSON.stringify(secret).length), 0)
  const { text, media, isTruncated } = await readBody(response, maxResponseBytes, longest, clean)
  const { method, url } = request
  const status = response.type === 'opaqueredirect' ? 'a redirect' : statusText(response.status)
  const shown = `${method} ${clean(url.origin + url.pathname)} → ${status}\n\n${text}${isTruncated ? '\n... [truncated]' : ''}${note}`
  const details: JsonObject = { method, url: clean(url.href), status: response.status, isTruncated }
  return { content: [{ type: 'text', text: shown }, ...(media === undefined ? [] : [media])], details }
}

async function prepare(plan: CallPlan, args: JsonObject | Record<string, unknown>, signal: AbortSignal): Promise<Prepared> {
  const { operation, inputs, options, authorizations } = plan
  const argumentOf = (parameter: Parameter): unknown => {
    // Callers may use the document's name if the model's name differs.
    const name = Object.hasOwn(args, parameter.key) ? parameter.key : parameter.name
    return ownOf(args, name) ?? undefined
  }
  const url = urlOf(plan, argumentOf)
  const headers = new Headers({ accept: 'application/json, */*;q=0.5' })
  for (const parameter of inputs.parameters) {
    const value = argumentOf(parameter)
    if (parameter.place !== 'header' || value === undefined) continue
    const text = headerText(parameter, value)
    if (!isHeaderValue(text)) throw new Refusal(`header param '${parameter.key}' must be one line of Latin text`)
    headers.set(parameter.name, text)
  }
  const body = bodyOf(plan, args)
  // The multipart boundary is known only when the request is sent.
  if (body?.type !== undefined) headers.set('content-type', body.type)
  const authorized = await authorize(authorizations, signal)
  for (const [name, value] of authorized.headers) headers.set(name, value)
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value)
  addQuery(url, authorized.query)
  return { method: operation.method, url, headers, secrets: authorized.secrets, ...(body !== undefined && { body: body.content }) }
}

function urlOf({ operation, baseUrl, inputs, authorizations }: CallPlan, argumentOf: (parameter: Parameter) => unknown): URL {
  const texts = new Map<string, string>()
  const pairs: string[] = []
  const sentNames = authorizations.filter(({ place }) => place === 'query').map(({ name }) => percentEncoded(name))
  for (const parameter of inputs.parameters) {
    const { place, name, key } = parameter
    const value = argumentOf(parameter)
    if (place === 'path') {
      if (value === undefined) throw new Refusal(`missing required path param '${key}'`)
      const text = pathText(parameter, value)
      if (text === '') throw new Refusal(`path param '${key}' must not be empty`)
      texts.set(name, text)
    } else if (place === 'query' && value !== undefined) pairs.push(...notSentByCaller(queryPairs(parameter, value), sentNames, key))
  }
  const [template = ''] = operation.path.split('#', 1)
  const [before = '', ...query] = template.split('?')
  const path = before.replace(/\{([^{}]+)\}/g, (whole, name: string) => texts.get(name) ?? whole)
  if (hasDotSegment(path)) throw new Refusal('a path param must not make a segment "." or ".."')
  const url = new URL(baseUrl + path)
  addQuery(url, [...query.map((part) => part.replace(/\{([^{}]+)\}/g, (whole, name: string) => texts.get(name) ?? whole)), ...pairs])
  return url
}

/** Refuses an exploded object whose field would override a parameter that the caller sets. */
function notSentByCaller(pairs: readonly string[], sentNames: readonly string[], key: string): readonly string[] {
  const own = sentNames.find((name) => pairs.some((pair) => pair.startsWith(`${name}=`)))
  if (own !== undefined) throw new Refusal(`query param '${key}' must not set '${own}'`)
  return pairs
}

function addQuery(url: URL, pairs: readonly string[]): void {
  const query = [url.search.slice(1), ...pairs].filter((part) => part !== '').join('&')
  if (query !== '') url.search = query
}

function bodyOf({ operation, inputs }: CallPlan, args: Record<string, unknown>): { content: string | FormData; type?: string } | undefined {
  const { body } = inputs
  if (body?.mediaType === undefined || operation.method === 'GET' || operation.method === 'HEAD') return undefined
  const value = ownOf(args, body.key)
  if (value === undefined) return undefined
  if (body.format === 'json') return { content: JSON.stringify(value), type: body.mediaType }
  if (body.format === 'form') return { content: formBody(body.encoding, value), type: body.mediaType }
  if (body.format === 'multipart') return { content: multipartBody(body, value) }
  return { content: typeof value === 'string' ? value : JSON.stringify(value), type: body.mediaType }
}

/**
 * Sends the request. Follows redirects that read (`GET`, `HEAD`, 303) itself, within the same origin only. Does not follow other redirects,
 * or those that the platform hides (browsers), because they would leak credentials.
 */
async function exchange(
  send: typeof fetch,
  request: Prepared,
  signal: AbortSignal,
  clean: (text: string) => string,
): Promise<{ response: Response; note: string }> {
  const { headers } = request
  let { method, body, url } = request
  for (let hops = 0; ; hops += 1) {
    const response = await send(url.href, { method, headers, redirect: 'manual', signal, ...(body !== undefined && { body }) })
    const redirect = redirectOf(response, url, hops)
    if (redirect === undefined) return { response, note: '' }
    const { to, location, isFollowed } = redirect
    if (location === '') return { response, note: '(The service redirects elsewhere. Redirects are not followed here.)' }
    const reads = method === 'GET' || method === 'HEAD' || response.status === 303
    if (to === undefined || !isFollowed || !reads) {
      const shown = clean(to?.href ?? percentEncoded(location)).slice(0, 1000)
      return { response, note: `\n\n(A redirect to ${shown}, which was not followed.)` }
    }
    response.body?.cancel().catch(() => undefined)
    if (method !== 'HEAD') method = 'GET'
    body = undefined
    headers.delete('content-type')
    url = to
  }
}
