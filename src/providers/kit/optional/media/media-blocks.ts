import type { JsonObject } from '../../../../contract/json.ts'
import type { MediaContent } from '../../../../contract/message/content.ts'
import { joined, joinedAll, toJson } from '../../encode/json-pieces.ts'
import { partsAround } from './media-json.ts'

/** A list of blocks, cut such that `end` ends a block with media. */
export interface MediaPlace {
  before: string
  end: string
  after: string
}

/** Encoded blocks, comma-separated, each a JSON object. */
export interface JoinedBlocks {
  readonly blocks: string
  /** `blocks` around the end of the last block with media; absent where there is none. */
  readonly media?: MediaPlace
  /** `blocks` with all data in the parts that it was made of, where it is long: it is not to be made one text to be hashed. */
  readonly parts?: readonly string[]
}

/** A block with media, as the texts that it is made of, one after the other. */
export interface MediaBlock {
  parts: readonly string[]
  /** The same with its data, where a name stands for them. */
  hashed?: readonly string[]
}

/** A block that became `wire`. `encode` makes the same of a block with other data: long data are not copied. */
export function mediaBlock(block: MediaContent, wire: JsonObject, encode: (block: MediaContent) => JsonObject | undefined): MediaBlock {
  const around = partsAround(block, (each) => toJson(encode(each)))
  if (around === undefined) return { parts: [toJson(wire)] }
  const { before, shown, data, after } = around
  return { parts: [before, shown, after], hashed: [before, data, after] }
}

/** `texts` with the blocks of `media` in their places. */
export function joinedMedia(texts: readonly string[], media: ReadonlyMap<number, MediaBlock>): JoinedBlocks {
  const blocks = texts.map((text, at): MediaBlock => media.get(at) ?? { parts: [text] })
  const last = Math.max(...media.keys())
  const parts = blocks[last]?.parts ?? []
  const rest = joinedAll(blocks.slice(last + 1).map(jsonOf))
  const before = joined(joinedAll(blocks.slice(0, last).map(jsonOf)), jsonOf({ parts: parts.slice(0, -1) }))
  const end = parts.at(-1) ?? ''
  const after = rest === '' ? '' : `,${rest}`
  const place = { before: last > 0 && parts.length === 1 ? `${before},` : before, end, after }
  const isLong = blocks.some(({ hashed }) => hashed !== undefined)
  return {
    blocks: place.before + end + after,
    media: place,
    ...(isLong && { parts: blocks.flatMap(({ parts, hashed }) => hashed ?? parts) }),
  }
}

/** Not by `join`, which copies what may be megabytes. */
function jsonOf({ parts }: MediaBlock): string {
  return parts.reduce((text, more) => text + more, '')
}
