import { AbortScope } from '../base/abort.ts'
import { readBytes } from '../base/http-answer.ts'
import { logWarning } from '../base/log-warning.ts'
import { startTimer } from '../base/timer.ts'
import { errorText, PhiError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { bundled } from './bundle.ts'
import { redirectOf } from './call/call.ts'
import { statusText } from './call/status-text.ts'
import { entriesField, field, type OpenApiDocument, readDocument } from './document.ts'
import { operationsOf } from './operations.ts'
import {
  aDocumentOrText,
  defaultTimeoutMs,
  type FetchOpenApiOptions,
  fetchOptions,
  OpenApiError,
  type OpenApiToolsOptions,
  type ReadOpenApiOptions,
  readOptions,
  toolsOptions,
} from './options.ts'
import { operationTool } from './tool.ts'

/**
 * Creates a tool for each operation of an OpenAPI 3.0 or 3.1 document: JSON or YAML text, or a parsed object.
 *
 * **Contract**
 * - Creates schemas on first use. Keeps a reference to the document, so do not change it.
 * - Responses of any status become text for the model: `GET https://… → 404 Not Found`, an empty line, the body.
 * - Skips and logs operations without an `operationId`, without a usable server, or with an invalid parameter or body.
 * - Rejects with `ConfigError` for wrong options, `OpenApiError` for an unusable document or one without usable operations, `LoadError`
 *   if the YAML parser cannot be loaded.
 * - Fetches nothing except through `resolve`. Without it, a document with paths or operations in other files is refused.
 *
 * Source: docs/guides/openapi.md
 *
 * @example
 * const tools = await openApiTools(document, { bearer: token, filter: { tags: ['pet'] }, needsApproval: 'unsafe' })
 * const agent = new Agent({ model, tools })
 */
export async function openApiTools(document: string | object, options: OpenApiToolsOptions = {}): Promise<AgentTool[]> {
  checkOptions(document, aDocumentOrText, 'document')
  checkOptions(options, toolsOptions)
  return toolsOf(await bundled(await readDocument(document, options), options), options)
}

/** Like {@link openApiTools}, for a file in a workspace. Rejects with the workspace's error if it cannot be read. */
export async function readOpenApiTools(path: string, options: ReadOpenApiOptions): Promise<AgentTool[]> {
  checkOptions(options, readOptions)
  const { workspace, ...rest } = options
  const bytes = await workspace.read(path)
  return toolsOf(await bundled(await readDocument(new TextDecoder().decode(bytes), rest, { path }), rest), rest)
}

/**
 * Like {@link openApiTools}, for a document on the web.
 *
 * **Contract**
 * - Fetches the document without credentials: `bearer`, `apiKey`, `credentials` and `headers` are for its operations.
 * - Follows redirects only within the origin of `url`.
 * - Relative servers, and documents without servers, use the URL of the document. A public document that names a server in your private
 *   network is rejected with `noServer`. Set `baseUrl` to allow it.
 * - Rejects with `OpenApiError` `unavailable` if the document cannot be fetched within `timeoutMs` and `maxDocumentBytes`, and with the
 *   reason of `signal` after an abort.
 */
export async function fetchOpenApiTools(url: string | URL, options: FetchOpenApiOptions = {}): Promise<AgentTool[]> {
  checkOptions(options, fetchOptions)
  const { maxDocumentBytes = 64 * 1024 * 1024, signal, ...rest } = options
  const from = URL.parse(String(url))
  if (from === null) throw new OpenApiError('unavailable', `${JSON.stringify(String(url).slice(0, 200))} is not an absolute URL.`)
  // Checked here because `fetch` rejects such a URL with an error that quotes it.
  if (from.username !== '' || from.password !== '')
    throw unavailable(from, 'its URL contains credentials. Fetch it yourself and pass the text')
  const { text, place } = await downloaded(from, rest, maxDocumentBytes, signal)
  return toolsOf(await bundled(await readDocument(text, rest, { url: place }), rest, signal), rest)
}

async function downloaded(
  from: URL,
  { timeoutMs = defaultTimeoutMs, fetch: send = fetch }: OpenApiToolsOptions,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<{ text: string; place: URL }> {
  const scope = new AbortScope(signal ?? new AbortController().signal)
  const stopTimer = startTimer(timeoutMs, () => scope.abort(unavailable(from, `there was no response within ${timeoutMs} ms`)))
  try {
    return await scope.race(download(from, send, scope.signal, limit))
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    throw PhiError.isInstance(error) ? error : unavailable(from, errorText(error))
  } finally {
    stopTimer()
    scope.release()
  }
}

async function download(from: URL, send: typeof fetch, signal: AbortSignal, limit: number): Promise<{ text: string; place: URL }> {
  const { response, url } = await answerOf(from, send, signal)
  if (!response.ok) throw unavailable(from, `the answer was ${statusText(response.status)}`)
  const { bytes, isWhole } = await readBytes(response, limit)
  if (!isWhole) throw unavailable(from, `it is larger than ${limit} bytes; raise maxDocumentBytes`)
  return { text: new TextDecoder().decode(bytes), place: URL.parse(response.url) ?? url }
}

async function answerOf(from: URL, send: typeof fetch, signal: AbortSignal): Promise<{ response: Response; url: URL }> {
  const init = { headers: { accept: 'application/json, application/yaml, */*;q=0.5' }, redirect: 'manual', signal } as const
  let url = from
  for (let hops = 0; ; hops += 1) {
    const response = await send(url.href, init)
    const redirect = redirectOf(response, url, hops)
    if (redirect === undefined) return { response, url }
    response.body?.cancel().catch(() => undefined)
    const { to, isFollowed } = redirect
    if (to === undefined || !isFollowed) {
      const place = to === undefined ? 'elsewhere' : `to ${to.protocol}//${to.host}${to.pathname}`.slice(0, 1000)
      throw unavailable(from, `it redirects ${place}, which was not followed; pass the target URL if you trust it`)
    }
    url = to
  }
}

/** Shows neither user info nor query of a URL: both may hold keys. */
function unavailable(from: URL, why: string): OpenApiError {
  return new OpenApiError('unavailable', `The OpenAPI document ${from.host}${from.pathname} is unavailable: ${why}.`)
}

function toolsOf(api: OpenApiDocument, options: OpenApiToolsOptions): AgentTool[] {
  const schemes = new Set(entriesField(field(api.root, 'components'), 'securitySchemes').map(([name]) => name))
  const unknown = Object.keys(options.credentials ?? {}).filter((name) => !schemes.has(name))
  if (unknown.length > 0) logWarning(options.logger, 'openApiSchemeNotFound', { credentials: unknown, schemes: [...schemes].slice(0, 100) })
  const reported = new Set<string>()
  const lose = (tool: string, lost: ReadonlySet<string>): void => {
    const fresh = [...lost].filter((what) => !reported.has(what)).slice(0, 100)
    for (const what of fresh) reported.add(what)
    if (fresh.length > 0) logWarning(options.logger, 'openApiSchemaNotEnforced', { tool, parts: fresh })
  }
  const tools: AgentTool[] = []
  const failed: { operation: string; error: OpenApiError }[] = []
  for (const operation of operationsOf(api, options)) {
    try {
      tools.push(operationTool(api, operation, options, lose))
    } catch (error) {
      if (!OpenApiError.isInstance(error)) throw error
      failed.push({ operation: `${operation.method} ${operation.path}`, error })
    }
  }
  const [first] = failed
  // One broken operation must not prevent the others from becoming tools. The call fails only if no operation is usable.
  if (first !== undefined && tools.length === 0) throw first.error
  for (const { operation, error } of failed) {
    const event = error.code === 'noServer' ? 'openApiOperationWithoutServer' : 'openApiOperationSkipped'
    logWarning(options.logger, event, { operation, why: error.message })
  }
  return tools
}
