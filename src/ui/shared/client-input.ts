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

/** Parsed client input, or a message for the client about what is wrong. */
export type Read<T> = { value: T; problem?: never } | { value?: never; problem: string }

export function problem(text: string): { problem: string } {
  return { problem: text }
}

/** `body` as a JSON object: parsed JSON, or its text. */
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

/** A file as a client of another protocol sends it. */
export interface ClientFile {
  /** As the client says; else that of a `data:` address. */
  mimeType: string | undefined
  /** Base64. */
  data?: string | undefined
  /** A data URL, or an https URL for the provider. Nothing is fetched here. */
  url?: string | undefined
  name?: string | undefined
}

/** A picture or a file of a client; or what is wrong with it, with `part` in its name. */
export function readFile({ mimeType, data, url, name }: ClientFile, part: string): Read<Content> {
  const inline = url === undefined ? undefined : readDataUrl(url)
  // A client may name no more than the kind, such as `image`.
  const type = mimeType !== undefined && /^[\w-]+\/[\w.+-]+/.test(mimeType) ? mimeType : inline?.mimeType
  if (type === undefined || type === '') return problem(`${part} does not say its media type, such as application/pdf.`)
  const source = inline !== undefined ? { data: inline.data } : data !== undefined ? { data } : url !== undefined ? { url } : {}
  const isPicture = type.startsWith('image/')
  const named = name === undefined || name === '' || isPicture ? {} : { name: name.slice(0, 200) }
  try {
    // A user who attaches a document probably wants page citations without asking for them.
    const cited = isMediaOf(type, ['application/pdf']) ? { citations: 'ifPossible' } : {}
    return { value: clientBlock({ type: isPicture ? 'image' : 'file', mimeType: type, ...source, ...named, ...cited }, part) }
  } catch (error) {
    return problem(errorText(error))
  }
}

/** Inline data of a `data:` URL; `undefined` for any other address. */
function readDataUrl(url: string): { mimeType: string; data: string } | undefined {
  const [, mimeType, isBase64, data] = /^data:([^;,]*)(?:;[^;,]+)*?(;base64)?,([\s\S]*)$/.exec(url) ?? []
  if (mimeType === undefined || data === undefined) return undefined
  return { mimeType, data: isBase64 === undefined ? decoded64(data) : data }
}

/** Empty if the text is not base64, which is then no data. */
function decoded64(data: string): string {
  try {
    return toBase64(new TextEncoder().encode(decodeURIComponent(data)))
  } catch {
    return ''
  }
}

/** A user's decision about one request, as a client sent it, for `run.approve` and `run.deny`. */
export interface ToolDecision extends Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'> {
  approved: boolean
  /** The reason, for the model. */
  reason?: string
}

/** The id of a request, bound to the arguments that were shown: a decision about other arguments has another id. */
export function approvalIdOf({ toolCallId, argumentsHash }: Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'>): string {
  return `${toolCallId}:${argumentsHash}`
}

/** The request that `id` of `approvalIdOf` names; `undefined` for any other text. */
export function parseApprovalId(id: string): Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'> | undefined {
  const [, toolCallId, argumentsHash] = /^(.+):([0-9a-f]{64})$/s.exec(id) ?? []
  return toolCallId === undefined || argumentsHash === undefined ? undefined : { toolCallId, argumentsHash }
}

/** The result of a client call, as a client sent it. */
export interface ToolOutcome {
  toolCallId: string
  answer: ClientCallAnswer
}
