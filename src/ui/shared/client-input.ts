import { toBase64 } from '../../base/base64.ts'
import { parsedJson } from '../../base/json/json-value.ts'
import { errorText } from '../../contract/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { Content } from '../../contract/message/content.ts'
import { clientBlock } from '../../contract/message/history.ts'
import { isMediaOf } from '../../contract/message/media.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { json } from '../../contract/shape/shape.ts'
import type { ApprovalRef, ClientCallAnswer } from '../../types/run/question.ts'

/** Parsed client input, or a message for the client that describes the problem. */
export type Read<T> = { value: T; problem?: never } | { value?: never; problem: string }

export function problem(text: string): { problem: string } {
  return { problem: text }
}

/** Returns `body`, which may be text or parsed JSON, as a JSON object. */
export function readBody(body: unknown): Read<JsonObject> {
  const parsed: unknown = typeof body === 'string' ? parsedJson(body) : body
  if (!isJsonObject(parsed)) return problem('The body is not a JSON object.')
  try {
    checkOptions(parsed, json, 'body')
  } catch (error) {
    return problem(errorText(error))
  }
  return { value: parsed }
}

/** Returns `value` if it is a string. */
export function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A file in a client request. */
export interface ClientFile {
  /** Declared by the client, or otherwise taken from the `data:` URL. */
  mimeType: string | undefined
  /** Base64. */
  data?: string | undefined
  /** A data URL, or an https URL for the provider. Never fetched by this module. */
  url?: string | undefined
  name?: string | undefined
}

/** Converts a client's image or file. `part` identifies the part in a problem message. */
export function readFile({ mimeType, data, url, name }: ClientFile, part: string): Read<Content> {
  const inline = url === undefined ? undefined : readDataUrl(url)
  // The client may send only the type without a subtype, such as `image`.
  const type = mimeType !== undefined && /^[\w-]+\/[\w.+-]+/.test(mimeType) ? mimeType : inline?.mimeType
  if (type === undefined || type === '') return problem(`${part} has no media type, such as application/pdf.`)
  const source = inline !== undefined ? { data: inline.data } : data !== undefined ? { data } : url !== undefined ? { url } : {}
  const isPicture = type.startsWith('image/')
  const named = name === undefined || name === '' || isPicture ? {} : { name: name.slice(0, 200) }
  try {
    // Enable page citations by default for documents that users attach.
    const cited = isMediaOf(type, ['application/pdf']) ? { citations: 'ifPossible' } : {}
    return { value: clientBlock({ type: isPicture ? 'image' : 'file', mimeType: type, ...source, ...named, ...cited }, part) }
  } catch (error) {
    return problem(errorText(error))
  }
}

/** Parses a `data:` URL, or `undefined` for any other URL. */
function readDataUrl(url: string): { mimeType: string; data: string } | undefined {
  const [, mimeType, isBase64, data] = /^data:([^;,]*)(?:;[^;,]+)*?(;base64)?,([\s\S]*)$/.exec(url) ?? []
  if (mimeType === undefined || data === undefined) return undefined
  return { mimeType, data: isBase64 === undefined ? decoded64(data) : data }
}

/** Converts percent-encoded data to base64. Empty if the encoding is invalid. */
function decoded64(data: string): string {
  try {
    return toBase64(new TextEncoder().encode(decodeURIComponent(data)))
  } catch {
    return ''
  }
}

/** A user's decision about one request, parsed from client input, for `run.approve` and `run.deny`. */
export interface ToolDecision extends Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'> {
  approved: boolean
  /** The reason, for the model. */
  reason?: string
  /** Edited arguments of an approved call. */
  arguments?: JsonObject
}

/** Returns a request's id, bound to the displayed arguments, so that a decision applies only to these arguments. */
export function approvalIdOf({ toolCallId, argumentsHash }: Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'>): string {
  return `${toolCallId}:${argumentsHash}`
}

/** Parses an id of `approvalIdOf`, or `undefined` for any other text. */
export function parseApprovalId(id: string): Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'> | undefined {
  const [, toolCallId, argumentsHash] = /^(.+):([0-9a-f]{64})$/s.exec(id) ?? []
  return toolCallId === undefined || argumentsHash === undefined ? undefined : { toolCallId, argumentsHash }
}

/** The result of a client call, parsed from client input. */
export interface ToolOutcome {
  toolCallId: string
  answer: ClientCallAnswer
}
