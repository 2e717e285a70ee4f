import { type Content, isMedia, type MediaContent } from '../../../../contract/message/content.ts'
import { newId } from '../../../../contract/message/identity.ts'
import type { Message } from '../../../../contract/message/message.ts'
import { perObject } from '../../encode/json-pieces.ts'

/** Minimum length of data that are referenced instead of copied. */
const longData = 64 * 1024
/** Matches characters that base64 does not contain. Base64 needs no escape in JSON. */
const otherThanBase64 = /[^A-Za-z0-9+/=]/

/** Data to insert into a body, by placeholder. */
export type DetachedMedia = ReadonlyMap<string, string>

/** Returns the placeholder for a block's data. It is unguessable, so that no name or text can contain it. */
const nameOf = perObject((_: MediaContent) => `beside:${newId()}`)
const canDetach = perObject(({ data = '' }: MediaContent) => data.length >= longData && !otherThanBase64.test(data))
/** Blocks that the encoder writes with a placeholder. Sending the request inserts the data. */
const detached = new WeakSet<MediaContent>()

/** Makes the encoder use placeholders for long data in the messages at `places`. Returns `undefined` if there are no long data. */
export function detachedMedia(messages: readonly Message[], places: readonly number[]): DetachedMedia | undefined {
  let found: Map<string, string> | undefined
  for (const at of places) {
    for (const block of messages[at]?.content ?? []) {
      if (!isMedia(block) || block.data === undefined || !canDetach(block)) continue
      detached.add(block)
      found ??= new Map()
      found.set(nameOf(block), block.data)
    }
  }
  return found
}

/** Returns `body` in parts, with placeholders replaced by data, and `write` applied to the text between them. */
export function bodyParts<Text>(body: string, media: DetachedMedia, write: (text: string) => Text): (string | Text)[] {
  return body.split(/(beside:[\da-f-]{36})/).map((part) => media.get(part) ?? write(part))
}

/** Returns a body with data as one text. */
export function wholeText(body: string, media: DetachedMedia | undefined): string {
  return media === undefined ? body : bodyParts(body, media, (text) => text).reduce((text, part) => text + part)
}

/** The JSON around a block's data. */
export interface AroundData {
  before: string
  /** The data, or their placeholder. */
  shown: string
  data: string
  after: string
}

/**
 * Encodes a block with `encode` and splits the JSON into the text before the data, the data, and the text after. A request can then
 * reference the data without a copy. Returns `undefined` if the data are short or not base64.
 */
export function partsAround(block: MediaContent, encode: (block: MediaContent) => string): AroundData | undefined {
  const { data } = block
  if (data === undefined || !canDetach(block)) return undefined
  const name = nameOf(block)
  const json = encode({ ...block, data: name })
  const at = json.indexOf(name)
  if (at < 0 || json.includes(name, at + name.length)) return undefined
  return { before: json.slice(0, at), shown: detached.has(block) ? name : data, data, after: json.slice(at + name.length) }
}

/** Like {@link partsAround}, but returns one text. */
export function mediaJson(block: MediaContent, encode: (block: MediaContent) => string): string {
  const around = partsAround(block, encode)
  return around === undefined ? encode(block) : around.before + around.shown + around.after
}

/** Returns the text for a tool result whose media are sent separately. Only for results that contain nothing else. */
export function seeAttached(content: readonly Content[]): string {
  return content.every(({ type }) => type === 'image') ? '(see attached image)' : '(see attached files)'
}
