import type { JsonObject } from '../../../../contract/json.ts'
import type { MediaContent } from '../../../../contract/message/content.ts'
import { joined, joinedAll, toJson } from '../../encode/json-pieces.ts'
import { partsAround } from './media-json.ts'

/** A list of blocks, split so that `end` ends with a media block. */
export interface MediaPlace {
  before: string
  end: string
  after: string
}

/** Encoded blocks, each a JSON object, comma-separated. */
export interface JoinedBlocks {
  readonly blocks: string
  /** `blocks`, split after the last media block. Absent without media. */
  readonly media?: MediaPlace
  /** `blocks` in parts that include long data, so that hashing does not build one large text. */
  readonly parts?: readonly string[]
}

/** A media block, as consecutive texts. */
export interface MediaBlock {
  parts: readonly string[]
  /** The block with its data instead of the placeholder. */
  hashed?: readonly string[]
}

/** Splits a block that is encoded as `wire`. Calls `encode` with a placeholder instead of long data, so that the data are not copied. */
export function mediaBlock(block: MediaContent, wire: JsonObject, encode: (block: MediaContent) => JsonObject | undefined): MediaBlock {
  const around = partsAround(block, (each) => toJson(encode(each)))
  if (around === undefined) return { parts: [toJson(wire)] }
  const { before, shown, data, after } = around
  return { parts: [before, shown, after], hashed: [before, data, after] }
}

/** Returns `texts` with the blocks of `media` inserted. */
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

/** Concatenates the parts without `join`, which would copy megabytes. */
function jsonOf({ parts }: MediaBlock): string {
  return parts.reduce((text, more) => text + more, '')
}
