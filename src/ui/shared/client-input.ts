import { toBase64 } from '../../base/base64.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { ImageContent, TextContent } from '../../contract/message/content.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { json } from '../../contract/shape/shape.ts'

/** A JSON object that a client sent. */
export type ClientObject = { [key: string]: JsonValue }

/** What a client sent, read; or what is wrong with it, for the client to read. */
export type Read<T> = { value: T; problem?: never } | { value?: never; problem: string }

export function problem(text: string): { problem: string } {
  return { problem: text }
}

/** `body` as a JSON object: parsed JSON, or its text. */
export function readBody(body: unknown): Read<ClientObject> {
  const parsed: unknown = typeof body === 'string' ? parseJson(body) : body
  if (!isObject(parsed)) return problem('The body is not a JSON object.')
  try {
    checkOptions(parsed, json, 'body')
  } catch (error) {
    return problem(error instanceof Error ? error.message : String(error))
  }
  return { value: parsed }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is ClientObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectsOf(value: JsonValue | undefined): ClientObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** An id as sessions and messages have them: some text, not too long to be stored as a key. */
export function isId(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 512
}

/** Inline data of a `data:` URL. `undefined` for any other address: nothing is fetched for a client. */
export function readDataUrl(url: string): { mimeType: string; data: string } | undefined {
  const [, mimeType, isBase64, data] = /^data:([^;,]*)(?:;[^;,]+)*?(;base64)?,([\s\S]*)$/.exec(url) ?? []
  if (mimeType === undefined || data === undefined) return undefined
  if (isBase64 !== undefined) return { mimeType, data }
  const decoded = decoded64(data)
  return decoded === undefined ? undefined : { mimeType, data: decoded }
}

function decoded64(data: string): string | undefined {
  try {
    return toBase64(new TextEncoder().encode(decodeURIComponent(data)))
  } catch {
    return undefined
  }
}

/** An image as it is, a file of text as its text; otherwise what the person has to be told. */
export function readFile(mimeType: string, data: string, name: string | undefined): Read<ImageContent | TextContent> {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return problem('A file is empty, or its data is not base64.')
  if (/^image\/[\w.+-]+$/.test(mimeType)) return { value: { type: 'image', data, mimeType } }
  if (!/^text\/|^application\/(json|xml|yaml|x-yaml|javascript|toml)$|\+(json|xml)$/.test(mimeType)) {
    return problem(`A file of type ${mimeType.slice(0, 100) || 'unknown'} cannot be read here. Send images, or files of text.`)
  }
  const text = textOf64(data)
  if (text === undefined) return problem('A file of text is not UTF-8 in base64.')
  return { value: { type: 'text', text: name === undefined ? text : `${name}:\n${text}` } }
}

function textOf64(data: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
