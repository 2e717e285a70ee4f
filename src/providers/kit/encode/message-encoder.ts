import type { JsonObject } from '../../../contract/json.ts'
import { type Content, isMedia } from '../../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../contract/message/message.ts'
import { emptyHash, extendHash, type Hash, hashToString, joinHash } from '../history/hash.ts'
import type { HistoryWriter } from '../history/history-memory.ts'
import { type JoinedBlocks, joinedMedia, type MediaBlock, type MediaPlace, mediaBlock } from '../optional/media/media-blocks.ts'
import { withReturnedBlocks } from '../optional/server-tools/service-payload.ts'
import { type CacheMarks, GrowingText, joined, toJson } from './json-pieces.ts'

/** Encoded blocks of one message. */
export interface EncodedMessage extends JoinedBlocks {
  /** Images from results that cannot contain images. They follow all results of the turn. */
  readonly after: string
  /** Number of documents among the blocks, if the provider numbers documents per conversation. */
  readonly documents?: number
  /** Number of documents outside tool results, and number of documents dropped because of the per-message limit. */
  readonly loose?: number
  readonly crowdedOut?: number
  /** The content's hash, computed on first use. */
  hash?: Hash
}

/** Number of documents before a message: in the conversation, and outside tool results within the same wire message. */
export interface DocumentCount {
  before: number
  loose: number
}

/** Encodes single messages for one provider. Caches the results per message. */
export interface MessageEncoder {
  encode(message: Message, documents: DocumentCount): EncodedMessage
  /** Encodes a response without thinking, for a changed prefix. */
  bare(message: AssistantMessage): EncodedMessage
}

type Role = 'user' | 'assistant'

const opening: Record<Role, string> = { user: '{"role":"user","content":[', assistant: '{"role":"assistant","content":[' }
const roleChange: Record<Role, Hash> = { user: { a: 1, b: 2 }, assistant: { a: 3, b: 4 } }

/**
 * Writes the `messages` of Claude's protocols. Merges adjacent messages with the same role into one message that begins with the results.
 *
 * `head` contains the texts before the messages, for models that bind thinking to the prefix. Drops thinking that was recorded with a
 * different prefix. Without `head`, keeps all thinking.
 */
export class TurnWriter implements HistoryWriter {
  readonly #encoder: MessageEncoder
  /**
   * The text so far is `#text + #asked + #answered + #middle + #last`. `#asked` ends with the last finished user message, where the
   * previous request ended. `#answered` is the response to it.
   */
  #text = new GrowingText()
  #asked = ''
  #answered = ''
  #middle = ''
  #last = ''
  #role: Role | undefined
  /** `#middle + #last`, split at the end of the last media in it. */
  #media: MediaPlace | undefined
  /** Blocks to add after the results. */
  #held = ''
  #documents = 0
  #loose = 0
  #crowdedOut = 0
  #prefix: Hash | undefined

  constructor(encoder: MessageEncoder, head: readonly string[]) {
    this.#encoder = encoder
    if (head.length > 0) this.#prefix = head.reduce(extendHash, emptyHash)
  }

  fork(): this {
    const fork = new TurnWriter(this.#encoder, [])
    fork.#text = this.#text.fork()
    fork.#asked = this.#asked
    fork.#answered = this.#answered
    fork.#middle = this.#middle
    fork.#last = this.#last
    fork.#role = this.#role
    fork.#media = this.#media
    fork.#held = this.#held
    fork.#documents = this.#documents
    fork.#loose = this.#loose
    fork.#crowdedOut = this.#crowdedOut
    fork.#prefix = this.#prefix
    return fork as this
  }

  add(message: Message): void {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    if (role !== this.#role) this.#loose = 0
    const isBare = this.#prefix !== undefined && message.role === 'assistant' && !isBoundTo(message, this.#prefix)
    const numbers = { before: this.#documents, loose: this.#loose }
    const encoded = isBare ? this.#encoder.bare(message) : this.#encoder.encode(message, numbers)
    if (encoded.blocks === '') return
    this.#documents += encoded.documents ?? 0
    this.#loose += encoded.loose ?? 0
    this.#crowdedOut += encoded.crowdedOut ?? 0
    if (this.#prefix !== undefined) this.#prefix = joinHash(joinHash(this.#prefix, roleChange[role]), hashOf(encoded))
    if (this.#held !== '' && message.role !== 'toolResult') {
      this.#append({ blocks: this.#held, media: { before: '', end: this.#held, after: '' }, after: '' })
      this.#held = ''
    }
    if (this.#role === role) this.#append(encoded)
    else this.#begin(role, encoded)
    // The API requires contiguous results.
    if (message.role === 'toolResult' && this.#media !== undefined) this.#media = { before: this.#middle, end: this.#last, after: '' }
    if (encoded.after !== '') this.#held = joined(this.#held, encoded.after)
  }

  /**
   * Returns the list of messages. With `marks`, places the available cache breakpoints in this order:
   *
   * - On the last block, so that the next request reads this request from the cache.
   * - On the last block of the previous request, because the provider searches only a limited number of blocks.
   * - On the last media of the last user message, for a later request with different text about the same media.
   */
  toJson(marks?: CacheMarks): string {
    const put = (blocks: string) => marks?.put(blocks) ?? blocks
    const media = marks === undefined || this.#held !== '' || this.#role !== 'user' || this.#media?.after === '' ? undefined : this.#media
    const end = put(this.#held || (media?.after ?? this.#last))
    const asked = put(this.#asked)
    const before = `${this.#text.toString()}${asked}${this.#answered}`
    if (this.#held !== '') return `[${before}${this.#middle}${this.#last},${end}]}]`
    return media === undefined ? `[${before}${this.#middle}${end}]}]` : `[${before}${media.before}${put(media.end)}${end}]}]`
  }

  /** Hash of the prefix that the next response belongs to. Absent if the model does not bind thinking to a prefix. */
  get prefixHash(): string | undefined {
    return this.#prefix === undefined ? undefined : hashToString(this.#prefix)
  }

  /** Number of documents dropped because of the per-message limit. */
  get crowdedOut(): number {
    return this.#crowdedOut
  }

  #append({ blocks, media }: EncodedMessage): void {
    this.#middle += `${this.#last},`
    this.#last = blocks
    if (media !== undefined) this.#media = { ...media, before: this.#middle + media.before }
    else if (this.#media !== undefined) this.#media = { ...this.#media, after: `${this.#media.after},${blocks}` }
  }

  #begin(role: Role, { blocks, media }: EncodedMessage): void {
    if (this.#role === 'assistant') this.#answered += this.#middle + this.#last
    else {
      for (const text of [this.#asked, this.#answered, this.#middle]) this.#text.append(text)
      this.#asked = this.#last
      this.#answered = ''
    }
    this.#middle = this.#role === undefined ? opening[role] : `]},${opening[role]}`
    this.#last = blocks
    this.#role = role
    this.#media = media && { ...media, before: this.#middle + media.before }
  }
}

/**
 * Returns whether all thinking blocks of a response belong to this prefix. The API rejects partial thinking, so the caller must keep or
 * drop all of them.
 */
function isBoundTo({ content }: AssistantMessage, prefix: Hash): boolean {
  let expected: string | undefined
  for (const block of content) {
    if (block.type !== 'thinking') continue
    expected ??= hashToString(prefix)
    if (block.providerState?.prefixHash !== expected) return false
  }
  return true
}

function hashOf(encoded: EncodedMessage): Hash {
  encoded.hash ??= extendHash((encoded.parts ?? [encoded.blocks]).reduce(extendHash, emptyHash), encoded.after)
  return encoded.hash
}

/** Returns the wire blocks for a block. `at` is the block's index. */
type BlockEncoder = (block: Content, at: number) => readonly JsonObject[]

/** Encodes the blocks in `content` with `encode`. Removes thinking that would be last because later blocks were dropped. */
export function joinBlocks(content: readonly Content[], encode: BlockEncoder): EncodedMessage {
  const blocks: string[] = []
  const media = new Map<number, MediaBlock>()
  let end = 0
  for (const [at, block] of content.entries()) {
    const made = encode(block, at)
    for (const wire of made) {
      const isShown = isMedia(block) && Object(wire.source).type !== 'text'
      if (isShown)
        media.set(
          blocks.length,
          mediaBlock(block, wire, (each) => encode(each, at)[0]),
        )
      blocks.push(isShown ? '' : toJson(wire))
    }
    // A response must not end with thinking.
    if (made.length > 0 && block.type !== 'thinking') end = blocks.length
  }
  blocks.length = end
  return { ...(media.size === 0 ? { blocks: blocks.join(',') } : joinedMedia(blocks, media)), after: '' }
}

/**
 * Returns a response's blocks. `encode` handles text, thinking and calls. Provider-executed tools and unknown blocks are sent back
 * unchanged.
 */
export function joinAnswer(content: readonly Content[], encode: BlockEncoder): EncodedMessage {
  const isReturned = content.some(({ type }) => type === 'serviceTool' || type === 'opaque')
  return joinBlocks(content, isReturned ? withReturnedBlocks(content, encode) : encode)
}
