import { onAbort, raceAbort } from '../../base/abort.ts'
import { escapeControls } from '../../base/text/characters.ts'
import { timerMs } from '../../base/timer.ts'
import { ConfigError, errorText, ToolError } from '../../contract/errors.ts'
import { CallClock, type CallLimits } from '../call-clock.ts'
import { cutText, oneLine } from '../call-result.ts'
import { anyResult, type McpClientLike } from '../client-like.ts'
import { McpError, mcpErrorCode } from '../mcp-error.ts'

/** Maximum entries and pages of a list. No model could use more. */
const maxEntries = 1000
const maxPages = 100
/** Maximum characters of a list. */
const maxChars = 8 * 1024 * 1024

/** A connection with its timeouts. */
export interface RequestSetting {
  client: McpClientLike
  limits: CallLimits
  /** Whether progress restarts `limits.timeoutMs`. */
  resetTimeoutOnProgress: boolean
}

/** A request of the protocol. */
export interface ServerRequest {
  method: string
  params?: Record<string, unknown>
}

/** A capability that a server announces. */
export type Capability = 'resources' | 'prompts' | 'completions'

/** Returns whether the server announces `capability`, and its part `feature` if given. */
export function supports({ client }: RequestSetting, capability: Capability, feature?: string): boolean {
  const announced: unknown = client.getServerCapabilities()?.[capability]
  if (announced === undefined || announced === null) return false
  return feature === undefined || Object(announced)[feature] === true
}

/** Throws `ConfigError` `unsupported` if the server does not announce `capability`. */
export function need(setting: RequestSetting, capability: Capability, feature?: string): void {
  if (supports(setting, capability, feature)) return
  const missing = feature === undefined ? capability : `${capability}.${feature}`
  throw new ConfigError('unsupported', `This MCP server does not announce the capability "${missing}". Use a server that supports it.`)
}

/**
 * Sends a request that only reads, so that a broken connection repeats it once.
 *
 * Rejects with `ToolError` `timeout` or `cancelled`, or with the error of the client. Leaves no timer or listener behind.
 */
export async function send(setting: RequestSetting, request: ServerRequest, signal?: AbortSignal): Promise<unknown> {
  const { client, limits, resetTimeoutOnProgress } = setting
  const cancelled = new ToolError('cancelled', 'The request to the MCP server was cancelled.')
  if (signal?.aborted) throw cancelled
  // A separate signal, because clients keep listening to it after the request.
  const scope = new AbortController()
  let ended: ToolError | undefined
  const end = (error: ToolError) => {
    ended ??= error
    scope.abort(ended.message)
  }
  const leave = signal === undefined ? undefined : onAbort(signal, () => end(cancelled))
  const clock = new CallClock(limits, (limit) =>
    end(new ToolError('timeout', `The MCP server did not respond to ${request.method} within ${limits[limit]} ms.`)),
  )
  const onprogress = () => {
    if (resetTimeoutOnProgress) clock.reset()
  }
  try {
    const options = { signal: scope.signal, timeout: timerMs(Infinity), isRepeatable: true, onprogress }
    return await raceAbort(client.request(request, anyResult, options), scope.signal)
  } catch (error) {
    throw ended ?? error
  } finally {
    clock.stop()
    leave?.()
  }
}

/** Sends a request like {@link send}. Rejects with `ToolError`, with limited text and without `cause`. */
export async function ask(setting: RequestSetting, request: ServerRequest, signal?: AbortSignal): Promise<Record<string, unknown>> {
  try {
    return Object(await send(setting, request, signal))
  } catch (error) {
    if (ToolError.isInstance(error)) throw error
    throw new ToolError('failed', cutText(escapeControls(errorText(error)), 2000))
  }
}

/** A list of a server: its request, the field of its entries, and how to read one. */
export interface ServerList<Entry> {
  method: string
  field: string
  /** What an entry is called in messages, such as `tool`. */
  noun: string
  /** Returns the valid parts of an entry; empty if it is unusable. */
  read(entry: unknown): Entry[]
}

/**
 * Reads all pages of a list, in the order of the server.
 *
 * Rejects with `McpError`:
 * - `connection` if the server cannot be reached.
 * - `unauthorized` if the server denies access.
 * - `protocol` for an invalid list, a repeated cursor, or more than 1,000 entries, 100 pages or 8 Mi characters.
 */
export async function listAll<Entry>(list: ServerList<Entry>, request: (request: ServerRequest) => Promise<unknown>): Promise<Entry[]> {
  const { noun } = list
  const found: Entry[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  let chars = 0
  do {
    const page = await readPage(list, cursor, request)
    // A list of arguments as long as a page of 10 MiB overflows the stack.
    for (const entry of page.entries) found.push(entry)
    chars += JSON.stringify(page.entries).length
    if (chars > maxChars) throw new McpError('protocol', `The ${noun} list is longer than ${maxChars} characters.`)
    cursor = page.nextCursor
    if (cursor === undefined) continue
    if (seen.has(cursor)) throw new McpError('protocol', `The ${noun} list never ends: the server returned the same cursor twice.`)
    seen.add(cursor)
    if (seen.size >= maxPages || found.length > maxEntries) break
  } while (cursor !== undefined)
  if (cursor === undefined && found.length <= maxEntries) return found
  throw new McpError('protocol', `The ${noun} list is too long: it has more than ${maxPages} pages or ${maxEntries} ${noun}s.`)
}

async function readPage<Entry>(
  { method, field, noun, read }: ServerList<Entry>,
  cursor: string | undefined,
  request: (request: ServerRequest) => Promise<unknown>,
): Promise<{ entries: Entry[]; nextCursor?: string }> {
  const page = await request({ method, ...(cursor !== undefined && { params: { cursor } }) }).catch((error) => {
    if (ToolError.isInstance(error) && error.code === 'cancelled') throw error
    // No `cause`, because errors of a client may contain secrets.
    throw new McpError(mcpErrorCode(error), `The server failed to list its ${noun}s: ${oneLine(errorText(error), 2000)}`)
  })
  const { [field]: entries, nextCursor }: Record<string, unknown> = Object(page)
  if (!Array.isArray(entries)) throw new McpError('protocol', `The server's ${method} response has no list of ${noun}s.`)
  // Some servers end with an empty cursor.
  return { entries: entries.flatMap(read), ...(typeof nextCursor === 'string' && nextCursor !== '' && { nextCursor }) }
}

/** Returns the texts of `fields` that `entry` has, without control characters. */
export function textsIn<Field extends string>(entry: unknown, fields: readonly Field[]): Partial<Record<Field, string>> {
  const given: Record<string, unknown> = Object(entry)
  const texts: Partial<Record<Field, string>> = {}
  for (const field of fields) {
    const value = given[field]
    if (typeof value === 'string') texts[field] = escapeControls(value)
  }
  return texts
}
