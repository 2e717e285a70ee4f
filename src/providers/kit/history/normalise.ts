import type { ToolCallContent } from '../../../contract/message/content.ts'
import {
  type AssistantMessage,
  callsToAnswer,
  hasCallsToAnswer,
  type Message,
  type ToolResultMessage,
  text,
  toolCallsOf,
  type UserMessage,
} from '../../../contract/message/message.ts'
import { emptyUsage } from '../../../contract/model/usage.ts'
import { perObject } from '../encode/json-pieces.ts'
import { cleanMessage, picturesOf, stoppedText } from '../optional/history/clean-message.ts'
import { leftOutAt, leftOutWarning } from '../optional/media/media-rules.ts'
import { hashText } from './hash.ts'
import { isAuthor, issuedId, isTakenAsIs, type NormaliseTarget } from './target.ts'

export type { NormaliseTarget } from './target.ts'

const opening: UserMessage = { role: 'user', content: [{ type: 'text', text: '(conversation continues)' }], timestamp: 0 }
const closing: UserMessage = { role: 'user', content: [{ type: 'text', text: 'Continue.' }], timestamp: 0 }

/**
 * Normalizes any history for `target`.
 *
 * **Contract**
 * - Drops failed responses and content that the target cannot read: blank text, thinking or state from other models, images for a text-only
 *   model. A placeholder line follows a prompt that has only failed responses.
 * - Keeps the text of an aborted response if a user message follows, but drops its thinking and calls. Drops the whole response if the
 *   model is called again without a new message.
 * - After each response with calls, there is exactly one result per call, in call order. Moves displaced results, adds missing results (the
 *   error `No result provided`), and drops orphaned and repeated results.
 * - Keeps ids that the target issued. Makes all other ids valid and unique. A result has the id of its call. Invalid JSON arguments stay
 *   `{}`.
 * - The result starts with a user message, and ends with a user message, a tool result, or a paused response. The codec merges adjacent
 *   messages with the same role.
 * - Returns unchanged messages by identity, and the same changed objects at each call for the same `target`. Takes one pass.
 * - Leaves lone surrogates to `toJson`.
 */
export function normalise(messages: readonly Message[], target: NormaliseTarget): readonly Message[] {
  const walk = new HistoryWalk(target)
  for (const message of messages) walk.add(message)
  walk.close()
  return walk.list
}

/** Placeholder for a failed response, so that the prompts before and after it stay separate turns. */
const noResponse: AssistantMessage = {
  role: 'assistant',
  content: [text('[No response: the request failed]')],
  stopReason: 'stop',
  model: '',
  provider: '',
  usage: emptyUsage(),
  timestamp: 0,
}

/** Placeholder for a call's result, until the result arrives or can no longer arrive. */
const awaited: ToolResultMessage = { role: 'toolResult', toolCallId: '', toolName: '', content: [], isError: true, timestamp: 0 }
const missingResult = perObject(noResult)

const nothing: ReadonlySet<string> = new Set()

/** A call without a result. */
interface OpenCall {
  /** Position of the call's result in the list. */
  index: number
  call: ToolCallContent
}

/**
 * Runs `normalise` message by message. A walk with a `base` continues it and changes only the end of the shared list.
 */
export class HistoryWalk {
  /** Normalized messages: the base's messages, then this walk's. */
  readonly list: Message[]
  /** Whether a result arrived for a call that the base has closed. Only a walk from the beginning can place it. */
  isLate = false
  /** Dropped media, with reasons. */
  leftOut: ReadonlySet<string>
  /** The last response if it was aborted. The next message determines which parts to keep. */
  #stopped: AssistantMessage | undefined
  /** Whether only failures arrived since the last prompt. */
  #hasFailed = false
  readonly #target: NormaliseTarget
  readonly #base: HistoryWalk | undefined
  readonly #used = new Set<string>()
  /** Next suffix for each repeated id. */
  #suffixes: Map<string, number> | undefined
  /** Open calls by original id. Ids may repeat across turns. The latest call wins. */
  readonly #open = new Map<string, OpenCall>()
  /** Messages before this index are final. */
  #settled: number

  constructor(target: NormaliseTarget, base?: HistoryWalk) {
    this.#target = target
    this.#base = base
    if (base !== undefined) {
      this.#stopped = base.#stopped
      this.#hasFailed = base.#hasFailed
    }
    this.list = base?.list ?? []
    this.leftOut = base?.leftOut ?? nothing
    this.#settled = this.list.length
  }

  /** Makes all messages so far final, and returns their number. */
  settle(): number {
    this.#fillIn()
    this.#settled = this.list.length
    return this.#settled
  }

  /** Drops messages that walks on this base have appended. */
  truncate(): void {
    this.list.length = this.#settled
  }

  /** Processes the history's next message. */
  add(message: Message): void {
    if (message.role === 'assistant' && message.stopReason === 'aborted') {
      this.#stopped = message
      return
    }
    if (message.role === 'assistant') this.#hasFailed = message.stopReason === 'error'
    if (message.role === 'user' && (this.#stopped !== undefined || this.#hasFailed)) this.#keepStopped()
    // A retried prompt now has its response.
    if (message.role === 'assistant' && message.stopReason !== 'error') this.#stopped = undefined
    this.#addCleaned(message)
  }

  /** Keeps the text of an aborted response, because a user message follows. */
  #keepStopped(): void {
    const stopped = this.#stopped
    this.#stopped = undefined
    const stopNote = stopped && stoppedText(stopped)
    if (stopNote !== undefined) this.#addCleaned(stopNote)
    else if (this.#hasFailed && this.list.length > 0 && this.list.at(-1)?.role !== 'assistant') this.list.push(noResponse)
    this.#hasFailed = false
  }

  #addCleaned(message: Message): void {
    const isPlain = isTakenAsIs(message, this.#target)
    const cleaned = isPlain ? message : cleanMessage(message, this.#target)
    if (cleaned === undefined) return
    if (!isPlain) this.#noteLeftOut(cleaned)
    if (cleaned.role !== 'toolResult') {
      if (this.list.length === 0 && cleaned.role !== 'user') this.list.push(opening)
      if (cleaned.role === 'assistant' && message.role === 'assistant') this.#answer(cleaned, message)
      else this.list.push(cleaned)
    } else if (message.role === 'toolResult') this.#result(message.toolCallId, cleaned)
  }

  #noteLeftOut({ content }: Message): void {
    const left = content.flatMap((block) => leftOutAt(block) ?? []).map(leftOutWarning)
    if (left.some((warning) => !this.leftOut.has(warning))) this.leftOut = new Set([...this.leftOut, ...left])
  }

  /** Ends the history: adds missing results, and a user message if the history would otherwise end with a response. */
  close(): void {
    this.#fillIn()
    if (this.list.length === 0) this.list.push(opening)
    const last = this.list.at(-1)
    // The provider continues a paused response.
    if (last?.role !== 'assistant') return
    const isPaused = this.#target.pauses === true && last.stopReason === 'paused' && isAuthor(last, this.#target)
    if (!isPaused) this.list.push(closing)
  }

  #answer(cleaned: AssistantMessage, original: AssistantMessage): void {
    const calls = toolCallsOf(original.content)
    const pictures = original === cleaned ? undefined : picturesOf(original, cleaned)
    const shown = pictures && cleanMessage(pictures, this.#target)
    if (shown !== undefined) this.#noteLeftOut(shown)
    if (!hasCallsToAnswer(cleaned.content)) {
      this.list.push(cleaned)
      if (shown !== undefined) this.list.push(shown)
      return
    }
    const message = this.#withUniqueIds(cleaned, calls)
    this.list.push(message)
    const first = this.list.length
    let next = 0
    for (const block of callsToAnswer(message.content)) {
      const id = block.isOfService === true ? block.id : (calls[next++]?.id ?? block.id)
      const known = this.#open.get(id)
      // If an id repeats within one response, the first call gets the first result, and the second call gets a missing-result error.
      const isSecond = known !== undefined && known.index >= first
      if (known !== undefined && !isSecond) this.list[known.index] = missingResult(known.call)
      if (!isSecond) this.#open.set(id, { index: this.list.length, call: block })
      this.list.push(isSecond ? missingResult(block) : awaited)
    }
    if (shown !== undefined) this.list.push(shown)
  }

  #result(id: string, cleaned: ToolResultMessage): void {
    const open = this.#open.get(id)
    if (open === undefined || open.index < this.#settled) {
      if (open !== undefined || this.#base?.isOpen(id) === true) this.isLate = true
      return
    }
    this.#open.delete(id)
    const { id: sent } = open.call
    this.list[open.index] = cleaned.toolCallId === sent ? cleaned : withCallId(cleaned, sent)
  }

  /** Adds a missing-result error to each open call. */
  #fillIn(): void {
    for (const { index, call } of this.#open.values()) if (index >= this.#settled) this.list[index] = missingResult(call)
  }

  /** Returns whether a call with this id is open. */
  isOpen(id: string): boolean {
    return this.#open.has(id) || this.#base?.isOpen(id) === true
  }

  /** Returns whether any response so far contains a call with this id. */
  isUsed(id: string): boolean {
    return this.#used.has(id) || this.#base?.isUsed(id) === true
  }

  /** Returns the next suffix for a repeated id. */
  suffixOf(id: string): number {
    return this.#suffixes?.get(id) ?? this.#base?.suffixOf(id) ?? 2
  }

  #withUniqueIds(message: AssistantMessage, calls: readonly ToolCallContent[]): AssistantMessage {
    const legal: string[] = []
    let isSame = true
    for (const block of message.content) {
      if (block.type !== 'toolCall') continue
      let id = block.id
      const original = calls[legal.length] ?? block
      const mayRepeat = this.#target.uniqueIds !== true && issuedId(original, message, this.#target) && !legal.includes(id)
      if (!mayRepeat && this.isUsed(id)) {
        isSame = false
        let suffix = this.suffixOf(block.id)
        do {
          id = this.#target.toolCallId(`${block.id}_${suffix}_${hashText(`${original.id} ${suffix}`)}`)
          suffix += 1
        } while (this.isUsed(id))
        this.#suffixes ??= new Map()
        this.#suffixes.set(block.id, suffix)
      }
      this.#used.add(id)
      legal.push(id)
    }
    return isSame ? message : withCallIds(message, legal)
  }
}

/** Copies messages with new ids. Returns the previous copy if the ids are the same, so that its encoded form is reused. */
const renamed = new WeakMap<Message, Message>()

function withCallIds(message: AssistantMessage, ids: readonly string[]): AssistantMessage {
  const last = renamed.get(message)
  if (last?.role === 'assistant') {
    const calls = last.content.filter((block) => block.type === 'toolCall')
    if (calls.every((call, index) => call.id === ids[index])) return last
  }
  let next = 0
  const content = message.content.map((block) => (block.type === 'toolCall' ? { ...block, id: ids[next++] ?? block.id } : block))
  const copy: AssistantMessage = { ...message, content }
  renamed.set(message, copy)
  return copy
}

function withCallId(message: ToolResultMessage, toolCallId: string): ToolResultMessage {
  const last = renamed.get(message)
  if (last?.role === 'toolResult' && last.toolCallId === toolCallId) return last
  const copy: ToolResultMessage = { ...message, toolCallId }
  renamed.set(message, copy)
  return copy
}

function noResult(call: ToolCallContent): ToolResultMessage {
  const content = [{ type: 'text' as const, text: 'No result provided' }]
  return { role: 'toolResult', toolCallId: call.id, toolName: call.name, content, isError: true, timestamp: 0 }
}
