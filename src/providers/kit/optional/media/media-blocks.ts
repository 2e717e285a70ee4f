import type { JsonObject } from '../../../../contract/json.ts'
import { type Content, isMedia, type MediaContent } from '../../../../contract/message/content.ts'
import { joined, joinedAll, toJson } from '../../encode/json-pieces.ts'
import { partsAround } from './media-json.ts'

/** The blocks on the wire that a block becomes; `at` is its place. */
export type BlockEncoder = (block: Content, at: number) => readonly JsonObject[]

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

/** The texts that a block is made of, one after the other. */
interface EncodedBlock {
  parts: readonly string[]
  isMedia: boolean
  /** The same with its data, where a name stands for them. */
  hashed?: readonly string[]
}

/** The blocks that `encode` makes of content with media: long data are not copied. */
export function joinMediaBlocks(content: readonly Content[], encode: BlockEncoder): JoinedBlocks {
  const blocks: EncodedBlock[] = []
  let end = 0
  for (const [at, block] of content.entries()) {
    const made = encode(block, at)
    for (const wire of made) {
      const isShown = isMedia(block) && Object(wire.source).type !== 'text'
      blocks.push(isShown ? mediaBlock(block, wire, (each) => toJson(encode(each, at)[0])) : { parts: [toJson(wire)], isMedia: false })
    }
    // Reasoning must be followed by what it led to.
    if (made.length > 0 && block.type !== 'thinking') end = blocks.length
  }
  blocks.length = end
  return joinedBlocks(blocks)
}

function joinedBlocks(blocks: readonly EncodedBlock[]): JoinedBlocks {
  const last = blocks.findLastIndex(({ isMedia }) => isMedia)
  const media = blocks[last]
  if (media === undefined) return { blocks: joinedAll(blocks.map(jsonOf)) }
  const rest = joinedAll(blocks.slice(last + 1).map(jsonOf))
  const before = joined(joinedAll(blocks.slice(0, last).map(jsonOf)), media.parts.slice(0, -1).reduce(concatenated, ''))
  const end = media.parts.at(-1) ?? ''
  const after = rest === '' ? '' : `,${rest}`
  const place = { before: last > 0 && media.parts.length === 1 ? `${before},` : before, end, after }
  const isLong = blocks.some(({ hashed }) => hashed !== undefined)
  return {
    blocks: place.before + end + after,
    media: place,
    ...(isLong && { parts: blocks.flatMap(({ parts, hashed }) => hashed ?? parts) }),
  }
}

function mediaBlock(block: MediaContent, wire: JsonObject, encode: (block: MediaContent) => string): EncodedBlock {
  const around = partsAround(block, encode)
  if (around === undefined) return { parts: [toJson(wire)], isMedia: true }
  const { before, shown, data, after } = around
  return { parts: [before, shown, after], isMedia: true, hashed: [before, data, after] }
}

function jsonOf({ parts }: EncodedBlock): string {
  return parts.reduce(concatenated, '')
}

function concatenated(text: string, more: string): string {
  return text + more
}
