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

/** Where an answer leads. `isFollowed` where that is within the same origin, and it was not led on too often before. */
interface Redirect {
  /** Undefined where the platform does not say, as browsers, or where it is no address. */
  to: URL | undefined
  /** As the service wrote it. */
  location: string
  isFollowed: boolean
}

const maxRedirects = 5

/**
 * The one rule for redirects: they are followed by hand, within the same origin. Elsewhere, credentials would go along, and a document from the open net
 * could come out of a private one. Undefined for an answer that is no redirect.
 */
export function redirectOf(response: Response, from: URL, hops: number): Redirect | undefined {
  if (response.type === 'opaqueredirect') return { to: undefined, location: '', isFollowed: false }
  const location = response.headers.get('location')
  if (location === null || !isRedirect(response)) return undefined
  const to = URL.parse(location, from) ?? undefined
  const isHere = to?.origin === from.origin && to.username === '' && to.password === ''
  return { to, location, isFollowed: isHere && hops < maxRedirects }
}

/** All that a call needs beside its arguments. */
export interface CallPlan {
  readonly operation: Operation
  readonly baseUrl: string
  readonly inputs: Inputs
  readonly authorizations: readonly Authorization[]
  readonly options: OpenApiToolsOptions
}

/** What is sent. */
interface Prepared {
  method: string
  url: URL
  headers: Headers
  body?: string | FormData
  secrets: string[]
}

/** Why arguments make no call: words for a model. */
class Refusal extends Error {}

/**
 * Calls an operation. What the service says, whatever its status, is text; arguments that make no call are an error result. Throws `ToolError`:
 * `timeout`, `cancelled`, or `failed` where there is no answer. No secret is in any of them, also where the service repeats it.
 */
export async function callOperation(plan: CallPlan, args: unknown, signal: AbortSignal): Promise<ToolResult> {
  const { operation, options, baseUrl } = plan
  const { timeoutMs = defaultTimeoutMs } = options
  const secrets = Object.entries(options.headers ?? {}).flatMap(([name, value]) => (isSecretHeader(name) ? headerSecrets(value) : []))
  const what = `${operation.method} ${baseUrl}${operation.path}`
  const scope = new AbortScope(signal)
  const stopTimer = startTimer(timeoutMs, () => scope.abort(new ToolError('timeout', `${what} gave no answer within ${timeoutMs} ms`)))
  try {
    scope.throwIfAborted()
    return await scope.race(sent(plan, args, scope.signal, secrets))
  } catch (error) {
    if (error instanceof Refusal) return { content: [{ type: 'text', text: `Error: ${error.message}` }], isError: true }
    if (signal.aborted) throw new ToolError('cancelled', 'Cancelled')
    if (scope.aborted) throw scope.reason
    const why = withoutSecrets(errorText(error), secrets)
    throw PhiError.isInstance(error) ? new ToolError('failed', why) : new ToolError('failed', `${what} could not be called: ${why}`)
  } finally {
    stopTimer()
    // What is left of the call, such as a body that nobody reads to its end, ends with it.
    scope.abort(new ToolError('cancelled', 'The call is over'))
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
    // A caller may use the name of the document where the model's had to be changed.
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
  // With parts, what stands between them is known when it is sent.
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

/** The fields of an object become parameters of their own: none of them may stand beside a key of the caller. */
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
 * Sends it. Redirects that read (`GET`, `HEAD`, 303) are followed by hand within the same origin; to any other, and where a platform does not say
 * where they lead (browsers), they are not, because credentials would go along.
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
