import type { Content } from '../../types/content.ts'
import type { JsonObject } from '../../types/json.ts'
import type { AssistantMessage, Message } from '../../types/message.ts'
import { perObject } from './encoded-cache.ts'
import { emptyHash, extendHash, type Hash, hashToString, joinHash } from './hash.ts'
import { toJson } from './json-text.ts'

/** The encoded blocks of one message, comma-separated, each a JSON object. */
export interface Piece {
  readonly blocks: string
  /** Images of results that cannot hold them: they go behind all results of the turn. */
  readonly after: string
}

/** How one service encodes single messages. Both are remembered per message. */
export interface PieceMaker {
  piece(message: Message): Piece
  /** An answer without its reasoning, for a prefix that has changed. */
  bare(message: AssistantMessage): Piece
  /** `json`, which ends with a block, with a cache breakpoint after that block. */
  mark(json: string): string
}

/** The `messages` of a request. */
export interface EncodedMessages {
  json: string
  /** What an answer to it is bound to; absent where the model binds nothing. */
  prefixHash?: string
}

const opening = { user: '{"role":"user","content":[', assistant: '{"role":"assistant","content":[' }
/** The hash of a piece; made once. */
const pieceHash = perObject((piece: Piece): Hash => extendHash(extendHash(emptyHash, piece.blocks), piece.after))
const roleChange: Record<'user' | 'assistant', Hash> = { user: { a: 1, b: 2 }, assistant: { a: 3, b: 4 } }

/**
 * Joins the pieces of normalised messages: neighbours of one role become one message, results stand first in it.
 *
 * `head` is the hash of what comes before the messages, for models whose reasoning is bound to its prefix: reasoning whose recorded prefix
 * is not the one it would be sent with is left out. With `marksCache`, the message before the last ends with a cache breakpoint.
 */
export function joinPieces(messages: readonly Message[], maker: PieceMaker, head: Hash | undefined, marksCache: boolean): EncodedMessages {
  // Flat strings, joined once: much cheaper than growing one string per message.
  const parts = ['[']
  let current: 'user' | 'assistant' | undefined
  let previousEnd = 0
  let held = ''
  let prefix = head
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const piece = message.role === 'assistant' ? answerPiece(message, maker, prefix) : maker.piece(message)
    if (piece.blocks === '') continue
    if (prefix !== undefined) prefix = joinHash(joinHash(prefix, roleChange[role]), pieceHash(piece))
    if (held !== '' && message.role !== 'toolResult') {
      parts.push(',', held)
      held = ''
    }
    if (current === role) parts.push(',', piece.blocks)
    else {
      previousEnd = parts.length - 1
      parts.push(current === undefined ? opening[role] : `]},${opening[role]}`, piece.blocks)
      current = role
    }
    if (piece.after !== '') held += held === '' ? piece.after : `,${piece.after}`
  }
  if (held !== '') parts.push(',', held)
  if (marksCache && previousEnd > 0) parts[previousEnd] = maker.mark(parts[previousEnd] ?? '')
  parts.push(']}]')
  const json = parts.join('')
  return prefix === undefined ? { json } : { json, prefixHash: hashToString(prefix) }
}

/** The blocks that `encode` makes of `content`, comma-separated; what it leaves out must not leave reasoning at the end. */
export function joinBlocks(content: readonly Content[], encode: (block: Content) => JsonObject | undefined): string {
  const blocks: string[] = []
  let end = 0
  for (const block of content) {
    const wire = encode(block)
    if (wire === undefined) continue
    blocks.push(toJson(wire))
    // Reasoning must be followed by what it led to.
    if (block.type !== 'thinking') end = blocks.length
  }
  blocks.length = end
  return blocks.join(',')
}

/** Reasoning of one answer is kept or dropped together: a part of it would be refused. */
function answerPiece(message: AssistantMessage, maker: PieceMaker, prefix: Hash | undefined): Piece {
  if (prefix === undefined) return maker.piece(message)
  let expected: string | undefined
  for (const block of message.content) {
    if (block.type !== 'thinking') continue
    expected ??= hashToString(prefix)
    if (block.providerState?.prefixHash !== expected) return maker.bare(message)
  }
  return maker.piece(message)
}
