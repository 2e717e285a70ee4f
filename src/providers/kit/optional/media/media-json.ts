import { type Content, isMedia, type MediaContent } from '../../../../contract/message/content.ts'
import { newId } from '../../../../contract/message/identity.ts'
import type { Message } from '../../../../contract/message/message.ts'
import { perObject } from '../../encode/json-pieces.ts'

/** Data of at least this many characters are not copied. */
const longData = 64 * 1024
/** Characters that need no escape in JSON and may be in a URL. */
const otherThanBase64 = /[^A-Za-z0-9+/=]/

/** Data outside a body, by their placeholders in it. */
export type DetachedMedia = ReadonlyMap<string, string>

/** The placeholder of data in encoded blocks. Unguessable, so that no name or text can contain it. */
const nameOf = perObject((_: MediaContent) => `beside:${newId()}`)
const canDetach = perObject(({ data = '' }: MediaContent) => data.length >= longData && !otherThanBase64.test(data))
/** Blocks of requests whose sender inserts the data. */
const detached = new WeakSet<MediaContent>()

/** Replaces long data of the messages at `places` by placeholders when they are encoded. `undefined` if there are none. */
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

/** Returns `body` in parts: data for their placeholders, and `write` applied to the text between them. */
export function bodyParts<Text>(body: string, media: DetachedMedia, write: (text: string) => Text): (string | Text)[] {
  return body.split(/(beside:[\da-f-]{36})/).map((part) => media.get(part) ?? write(part))
}

/** Returns a body as one text. */
export function wholeText(body: string, media: DetachedMedia | undefined): string {
  return media === undefined ? body : bodyParts(body, media, (text) => text).reduce((text, part) => text + part)
}

/** The JSON around the data of a block. */
export interface AroundData {
  before: string
  /** The data, or their placeholder. */
  shown: string
  data: string
  after: string
}

/**
 * Returns the JSON that `encode` makes of a block as the text before its data, the data, and the text after: a request then references
 * the bytes of the block without a copy. `undefined` if the data are short, or not base64.
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

/** Returns the same as one text. */
export function mediaJson(block: MediaContent, encode: (block: MediaContent) => string): string {
  const around = partsAround(block, encode)
  return around === undefined ? encode(block) : around.before + around.shown + around.after
}

/** Returns the text of a result that consists of media only, which are sent elsewhere. */
export function seeAttached(content: readonly Content[]): string {
  return content.every(({ type }) => type === 'image') ? '(see attached image)' : '(see attached files)'
}
