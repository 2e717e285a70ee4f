import type { JsonObject } from '../../../contract/json.ts'
import type { Content } from '../../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../contract/message/message.ts'
import { emptyHash, extendHash, type Hash, hashToString, joinHash } from '../history/hash.ts'
import type { HistoryWriter } from '../history/history-memory.ts'
import { GrowingText } from './growing-text.ts'
import { toJson } from './json-text.ts'

/** The encoded blocks of one message, comma-separated, each a JSON object. */
export interface EncodedMessage {
  readonly blocks: string
  /** Where in `blocks` the last block with media ends; absent where there is none. */
  readonly mediaEnd?: number
  /** Images of results that cannot hold them: they go behind all results of the turn. */
  readonly after: string
  /** Made when it is asked for. */
  hash?: Hash
}

/** How one service encodes single messages. Both are remembered per message. */
export interface MessageEncoder {
  encode(message: Message): EncodedMessage
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
  /** What is written so far is `#text + #end + #middle + #last`; `#end` is the last block of the message before the current one. */
  #text = new GrowingText()
  #end = ''
  #middle = ''
  #last = ''
  #role: Role | undefined
  /** Where in `#middle + #last` the last media end. */
  #mediaEnd: number | undefined
  /** What waits for the end of the results. */
  #held = ''
  #prefix: Hash | undefined

  constructor(encoder: MessageEncoder, head: readonly string[]) {
    this.#encoder = encoder
    if (head.length > 0) this.#prefix = head.reduce(extendHash, emptyHash)
  }

  fork(): this {
    const fork = new TurnWriter(this.#encoder, [])
    fork.#text = this.#text.fork()
    fork.#end = this.#end
    fork.#middle = this.#middle
    fork.#last = this.#last
    fork.#role = this.#role
    fork.#mediaEnd = this.#mediaEnd
    fork.#held = this.#held
    fork.#prefix = this.#prefix
    return fork as this
  }

  add(message: Message): void {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const encoded = message.role === 'assistant' ? this.#answer(message) : this.#encoder.encode(message)
    if (encoded.blocks === '') return
    if (this.#prefix !== undefined) this.#prefix = joinHash(joinHash(this.#prefix, roleChange[role]), hashOf(encoded))
    if (this.#held !== '' && message.role !== 'toolResult') {
      this.#append({ blocks: this.#held, mediaEnd: this.#held.length, after: '' })
      this.#held = ''
    }
    if (this.#role === role) this.#append(encoded)
    else this.#begin(role, encoded)
    // Nothing may stand between results.
    if (message.role === 'toolResult' && this.#mediaEnd !== undefined) this.#mediaEnd = this.#middle.length + this.#last.length
    if (encoded.after !== '') this.#held = this.#held === '' ? encoded.after : `${this.#held},${encoded.after}`
  }

  /**
   * The list of messages. `mark` puts a cache breakpoint after a block: that which ends the message before the last, and the last media of the last message,
   * so that they are read from the cache the next time already.
   */
  toJson(mark?: (block: string) => string): string {
    if (mark === undefined)
      return `[${this.#text.toString()}${this.#end}${this.#middle}${this.#last}${this.#held === '' ? '' : `,${this.#held}`}]}]`
    const end = this.#end === '' ? '' : mark(this.#end)
    const last = this.#middle + this.#last
    const at = this.#held === '' && this.#role === 'user' ? this.#mediaEnd : undefined
    const marked = at === undefined ? last : mark(last.slice(0, at)) + last.slice(at)
    return `[${this.#text.toString()}${end}${marked}${this.#held === '' ? '' : `,${mark(this.#held)}`}]}]`
  }

  /** What an answer is bound to; absent where the model binds nothing. */
  get prefixHash(): string | undefined {
    return this.#prefix === undefined ? undefined : hashToString(this.#prefix)
  }

  #append({ blocks, mediaEnd }: EncodedMessage): void {
    this.#middle += `${this.#last},`
    this.#last = blocks
    if (mediaEnd !== undefined) this.#mediaEnd = this.#middle.length + mediaEnd
  }

  #begin(role: Role, { blocks, mediaEnd }: EncodedMessage): void {
    this.#text.append(this.#end)
    this.#text.append(this.#middle)
    this.#end = this.#last
    this.#middle = this.#role === undefined ? opening[role] : `]},${opening[role]}`
    this.#last = blocks
    this.#role = role
    this.#mediaEnd = mediaEnd === undefined ? undefined : this.#middle.length + mediaEnd
  }

  /** Reasoning of one answer is kept or dropped together: a part of it would be refused. */
  #answer(message: AssistantMessage): EncodedMessage {
    const prefix = this.#prefix
    if (prefix === undefined) return this.#encoder.encode(message)
    let expected: string | undefined
    for (const block of message.content) {
      if (block.type !== 'thinking') continue
      expected ??= hashToString(prefix)
      if (block.providerState?.prefixHash !== expected) return this.#encoder.bare(message)
    }
    return this.#encoder.encode(message)
  }
}

function hashOf(encoded: EncodedMessage): Hash {
  encoded.hash ??= extendHash(extendHash(emptyHash, encoded.blocks), encoded.after)
  return encoded.hash
}

/** The blocks that `encode` makes of `content`; what it leaves out must not leave reasoning at the end. */
export function joinBlocks(
  content: readonly Content[],
  encode: (block: Content, at: number) => JsonObject | readonly JsonObject[] | undefined,
): EncodedMessage {
  const blocks: string[] = []
  let end = 0
  let media = 0
  for (const [at, block] of content.entries()) {
    const wire = encode(block, at)
    if (wire === undefined || (isList(wire) && wire.length === 0)) continue
    if (isList(wire)) for (const each of wire) blocks.push(toJson(each))
    else blocks.push(toJson(wire))
    // Reasoning must be followed by what it led to.
    if (block.type !== 'thinking') end = blocks.length
    if (block.type === 'image' || block.type === 'file') media = blocks.length
  }
  blocks.length = end
  const made = { blocks: blocks.join(','), after: '' }
  // Each block, and the commas between them.
  return media === 0 ? made : { ...made, mediaEnd: blocks.slice(0, media).reduce((length, block) => length + block.length, media - 1) }
}

function isList(wire: JsonObject | readonly JsonObject[]): wire is readonly JsonObject[] {
  return Array.isArray(wire)
}
