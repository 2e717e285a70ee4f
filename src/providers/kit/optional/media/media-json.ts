import { type Content, isMedia, type MediaContent } from '../../../../contract/message/content.ts'
import { newId } from '../../../../contract/message/identity.ts'
import type { Message } from '../../../../contract/message/message.ts'
import { perObject } from '../../encode/json-pieces.ts'

/** Characters from which on data are not copied. */
const longData = 64 * 1024
/** What may need no escape in JSON, and stand in an address. */
const otherThanBase64 = /[^A-Za-z0-9+/=]/

/** Data that stand beside a body, by the names that stand for them in it. */
export type MediaBeside = ReadonlyMap<string, string>

/** Stands for the data of a block in what is encoded of it. Nobody who writes a name or a text can know it. */
const nameOf = perObject((_: MediaContent) => `beside:${newId()}`)
const canStandBeside = perObject(({ data = '' }: MediaContent) => data.length >= longData && !otherThanBase64.test(data))
/** Blocks of requests whose sender puts the data in. */
const beside = new WeakSet<MediaContent>()

/** The long data of the messages at `places`: what is encoded of them from now on has a name in their place. `undefined` where there are none. */
export function mediaBeside(messages: readonly Message[], places: readonly number[]): MediaBeside | undefined {
  let found: Map<string, string> | undefined
  for (const at of places) {
    for (const block of messages[at]?.content ?? []) {
      if (!isMedia(block) || block.data === undefined || !canStandBeside(block)) continue
      beside.add(block)
      found ??= new Map()
      found.set(nameOf(block), block.data)
    }
  }
  return found
}

/** `body` in parts: data in place of their names, and what `write` makes of the text between them. */
export function bodyParts<Text>(body: string, media: MediaBeside, write: (text: string) => Text): (string | Text)[] {
  return body.split(/(beside:[\da-f-]{36})/).map((part) => media.get(part) ?? write(part))
}

/** A body as one text. */
export function wholeText(body: string, media: MediaBeside | undefined): string {
  return media === undefined ? body : bodyParts(body, media, (text) => text).reduce((text, part) => text + part)
}

/** What stands around the data of a block in its JSON. */
export interface AroundData {
  before: string
  /** The data, or the name that stands for them. */
  shown: string
  data: string
  after: string
}

/**
 * The JSON that `encode` makes of a block, as what stands before its data, the data, and what stands behind: a request then refers to the bytes of the block, and
 * nobody keeps a copy. `undefined` where the data are short, or no base64.
 */
export function partsAround(block: MediaContent, encode: (block: MediaContent) => string): AroundData | undefined {
  const { data } = block
  if (data === undefined || !canStandBeside(block)) return undefined
  const name = nameOf(block)
  const json = encode({ ...block, data: name })
  const at = json.indexOf(name)
  if (at < 0 || json.includes(name, at + name.length)) return undefined
  return { before: json.slice(0, at), shown: beside.has(block) ? name : data, data, after: json.slice(at + name.length) }
}

/** The same, as one text. */
export function mediaJson(block: MediaContent, encode: (block: MediaContent) => string): string {
  const around = partsAround(block, encode)
  return around === undefined ? encode(block) : around.before + around.shown + around.after
}

/** Returns what a result without text says of its media, which stand elsewhere. */
export function seeAttached(content: readonly Content[]): string {
  return content.every(({ type }) => type === 'image') ? '(see attached image)' : '(see attached files)'
}
