import type { JsonObject } from '../../../contract/json.ts'
import { type Content, isMedia } from '../../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../contract/message/message.ts'
import { emptyHash, extendHash, type Hash, hashToString, joinHash } from '../history/hash.ts'
import type { HistoryWriter } from '../history/history-memory.ts'
import { type JoinedBlocks, joinedMedia, type MediaBlock, type MediaPlace, mediaBlock } from '../optional/media/media-blocks.ts'
import { withReturnedBlocks } from '../optional/server-tools/service-payload.ts'
import { type CacheMarks, GrowingText, joined, toJson } from './json-pieces.ts'

/** The encoded blocks of one message. */
export interface EncodedMessage extends JoinedBlocks {
  /** Images of results that cannot hold them: they go behind all results of the turn. */
  readonly after: string
  /** How many of the blocks are documents with a number, where the service wants each to have one in the conversation. */
  readonly documents?: number
  /** How many of them stand in no result, and how many had no room beside those before them in the message. */
  readonly loose?: number
  readonly crowdedOut?: number
  /** Made when it is asked for. */
  hash?: Hash
}

/** Documents before a message: in the conversation, and in no result of the wire message that it will be part of. */
export interface DocumentCount {
  before: number
  beside: number
}

/** How one service encodes single messages. Both are remembered per message. */
export interface MessageEncoder {
  encode(message: Message, documents: DocumentCount): EncodedMessage
  /** An answer without its reasoning, for a prefix that has changed. */
  bare(message: AssistantMessage): EncodedMessage
}

type Role = 'user' | 'assistant'

const opening: Record<Role, string> = { user: '{"role":"user","content":[', assistant: '{"role":"assistant","content":[' }
const roleChange: Record<Role, Hash> = { user: { a: 1, b: 2 }, assistant: { a: 3, b: 4 } }

/**
 * Writes the `messages` of Claude's protocols: neighbours of one role become one message, results stand first in it.
 *
 * `head` are the texts before the messages, for models whose reasoning is bound to its prefix: reasoning whose recorded prefix is not the one
 * it would be sent with is left out. Without any, nothing is bound.
 */
export class TurnWriter implements HistoryWriter {
  readonly #encoder: MessageEncoder
  /**
   * What is written so far is `#text + #asked + #answered + #middle + #last`. `#asked` ends the last finished message of the user, where the request
   * before this one ended. `#answered` is what the model said then.
   */
  #text = new GrowingText()
  #asked = ''
  #answered = ''
  #middle = ''
  #last = ''
  #role: Role | undefined
  /** `#middle + #last` around the end of the last media in it. */
  #media: MediaPlace | undefined
  /** What waits for the end of the results. */
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
    const numbers = { before: this.#documents, beside: this.#loose }
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
    // Nothing may stand between results.
    if (message.role === 'toolResult' && this.#media !== undefined) this.#media = { before: this.#middle, end: this.#last, after: '' }
    if (encoded.after !== '') this.#held = joined(this.#held, encoded.after)
  }

  /**
   * Returns the list of messages. With `marks`, cache breakpoints stand in this order as long as there are any:
   *
   * - Behind the last block, so that the next request reads all of this one from the cache.
   * - Behind the block that ended the request before this one. The service searches a limited number of blocks for what it wrote.
   * - Behind the last media of the last message of the user, for a request that says something else about them.
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

  /** What an answer is bound to; absent where the model binds nothing. */
  get prefixHash(): string | undefined {
    return this.#prefix === undefined ? undefined : hashToString(this.#prefix)
  }

  /** How many documents had no room in their message. */
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

/** Whether the reasoning of an answer is bound to this prefix. It is kept or dropped together: a part of it would be refused. */
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

/** The blocks on the wire that a block becomes; `at` is its place. */
type BlockEncoder = (block: Content, at: number) => readonly JsonObject[]

/** The blocks that `encode` makes of `content`; what it leaves out must not leave reasoning at the end. */
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
    // Reasoning must be followed by what it led to.
    if (made.length > 0 && block.type !== 'thinking') end = blocks.length
  }
  blocks.length = end
  return { ...(media.size === 0 ? { blocks: blocks.join(',') } : joinedMedia(blocks, media)), after: '' }
}

/**
 * The blocks of an answer, which `encode` makes of text, reasoning and calls. Tools that the service ran, and what this version does not know, go back as they
 * came.
 */
export function joinAnswer(content: readonly Content[], encode: BlockEncoder): EncodedMessage {
  const isReturned = content.some(({ type }) => type === 'serviceTool' || type === 'opaque')
  return joinBlocks(content, isReturned ? withReturnedBlocks(content, encode) : encode)
}
