import { charsWithin } from '../../base/json/json-diff.ts'
import { type JsonObject, ownOf } from '../../contract/json.ts'
import { isPlainObject, jsonFault } from '../../contract/shape/json-fault.ts'

/** Maximum characters of a message as JSON. A longer one ends the frame. */
const maxMessage = 1024 * 1024
/** Maximum nesting depth of a message. */
const maxMessageDepth = 64
/** Maximum characters of a text for the composer or the user. */
const maxText = 20_000
/** Maximum characters of ids, names and URLs. */
const maxName = 4096

/** Id of a JSON-RPC request. */
export type RequestId = string | number

/** A request of an app that a host can support. */
export type AppRequest =
  | { method: 'ui/initialize' }
  | { method: 'ping' }
  | { method: 'tools/call'; name: string; args: JsonObject }
  | { method: 'resources/read'; uri: string }
  | { method: 'ui/message'; text: string }
  | { method: 'ui/open-link'; url: string }
  | { method: 'ui/update-model-context'; text: string }
  | { method: 'ui/request-display-mode' }

/** A message of an app, checked. */
export type AppMessage =
  | { kind: 'request'; id: RequestId; request: AppRequest }
  | { kind: 'initialized' }
  | { kind: 'size'; height: number }
  | { kind: 'response'; id: RequestId }
  /** A request that is refused with an error. */
  | { kind: 'refused'; id: RequestId; code: number; why: string }
  /** A notification that a host may ignore, or no message at all. */
  | { kind: 'ignored' }
  | { kind: 'tooLarge' }

/** A message of the host to an app, without `jsonrpc`. */
export type HostMessage =
  | { id: RequestId; result: JsonObject }
  | { id: RequestId; error: { code: number; message: string } }
  | { id: RequestId; method: 'ui/resource-teardown'; params: JsonObject }
  | { method: `ui/notifications/${HostNotification}`; params: JsonObject }

/** Notifications of the host, without their prefix. */
type HostNotification = 'tool-input' | 'tool-input-partial' | 'tool-result' | 'tool-cancelled' | 'host-context-changed'

/** Error codes of JSON-RPC, and of a host that refuses. */
export const codes = { invalidRequest: -32600, unknownMethod: -32601, invalidParams: -32602, refused: -32000 } as const

/**
 * Reads a message that a frame has posted.
 *
 * **Contract**
 * - Never throws. Refuses requests that are not JSON, nested deeper than 64 levels, or have invalid parameters.
 * - Looks at own properties only.
 */
export function readAppMessage(data: unknown): AppMessage {
  if (typeof data === 'string' && data.length > maxMessage) return { kind: 'tooLarge' }
  if (!isPlainObject(data) || ownOf(data, 'jsonrpc') !== '2.0') return { kind: 'ignored' }
  const id = ownOf(data, 'id')
  const fault = jsonFault(data, 'message', maxMessageDepth)
  if (fault !== undefined)
    return isId(id) ? { kind: 'refused', id, code: codes.invalidRequest, why: fault.slice(0, 200) } : { kind: 'ignored' }
  if (charsWithin(data as JsonObject, maxMessage) > maxMessage) return { kind: 'tooLarge' } // `jsonFault` found only JSON
  const method = ownOf(data, 'method')
  const params = ownOf(data, 'params')
  const given = isPlainObject(params) ? params : {}
  if (typeof method !== 'string') return isId(id) ? { kind: 'response', id } : { kind: 'ignored' }
  if (!isId(id)) return notificationOf(method, given)
  if (!isMethod(method)) {
    return { kind: 'refused', id, code: codes.unknownMethod, why: `This host does not support the method ${shownName(method)}.` }
  }
  const request = readers[method](given)
  if (request !== undefined) return { kind: 'request', id, request }
  return { kind: 'refused', id, code: codes.invalidParams, why: `The parameters of ${method} are invalid.` }
}

/** Returns a name of the app for an error message. */
function shownName(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}

function notificationOf(method: string, params: Record<string, unknown>): AppMessage {
  if (method === 'ui/notifications/initialized') return { kind: 'initialized' }
  const height = ownOf(params, 'height')
  if (method === 'ui/notifications/size-changed' && typeof height === 'number' && height >= 0) return { kind: 'size', height }
  return { kind: 'ignored' }
}

type Readers = {
  [Method in AppRequest['method']]: (params: Record<string, unknown>) => Extract<AppRequest, { method: Method }> | undefined
}

const readers: Readers = {
  'ui/initialize': () => ({ method: 'ui/initialize' }),
  ping: () => ({ method: 'ping' }),
  'ui/request-display-mode': () => ({ method: 'ui/request-display-mode' }),
  'tools/call': (params) => {
    const [name, args = {}] = [ownOf(params, 'name'), ownOf(params, 'arguments')]
    return isName(name) && isJsonObject(args) ? { method: 'tools/call', name, args } : undefined
  },
  'resources/read': (params) => {
    const uri = ownOf(params, 'uri')
    return isName(uri) ? { method: 'resources/read', uri } : undefined
  },
  'ui/message': (params) => {
    const text = textIn(ownOf(params, 'content'))
    return ownOf(params, 'role') === 'user' && text !== undefined ? { method: 'ui/message', text } : undefined
  },
  'ui/open-link': (params) => {
    const url = webUrl(ownOf(params, 'url'))
    return url === undefined ? undefined : { method: 'ui/open-link', url }
  },
  'ui/update-model-context': (params) => {
    const structured = ownOf(params, 'structuredContent')
    const parts = [textIn(ownOf(params, 'content')), structured === undefined ? undefined : JSON.stringify(structured)]
    const text = parts.filter((part) => part !== undefined).join('\n')
    return text.length > maxText ? undefined : { method: 'ui/update-model-context', text }
  },
}

function isMethod(method: string): method is AppRequest['method'] {
  return Object.hasOwn(readers, method)
}

/** Returns the text of one or several text blocks; `undefined` for other content. */
function textIn(content: unknown): string | undefined {
  const blocks: unknown[] = Array.isArray(content) ? content : [content]
  const texts = blocks.map((block) => (isPlainObject(block) && ownOf(block, 'type') === 'text' ? ownOf(block, 'text') : undefined))
  if (!texts.every((text) => typeof text === 'string')) return undefined
  const text = texts.join('\n')
  return text === '' || text.length > maxText ? undefined : text
}

/** Returns an http or https URL without credentials, as a browser would open it. */
function webUrl(given: unknown): string | undefined {
  const url = isName(given) ? URL.parse(given) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  return url.href
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxName
}

function isId(value: unknown): value is RequestId {
  return isName(value) || Number.isFinite(value)
}

/** The message was found to be JSON. */
function isJsonObject(value: unknown): value is JsonObject {
  return isPlainObject(value)
}
