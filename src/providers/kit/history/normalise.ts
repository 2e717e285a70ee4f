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
 * Any history, made such that `target` accepts it.
 *
 * **Contract**
 * - Failed answers are left out, and so is what nobody can read: blank text, foreign reasoning, foreign state, images for a model without eyes. Where a
 *   question had failed answers alone, a line stands between it and the next one.
 * - The text of an aborted answer is kept, once a user message follows: somebody stopped it, and says how to go on. The thinking and the calls of that answer
 *   are left out, and all of it where the model is asked again without a word.
 * - Right after each answer with calls stands exactly one result per call, in the order of the calls: displaced ones are pulled up,
 *   missing ones made up (`No result provided`, an error), orphans and repeats left out.
 * - Ids that the target issued go back as they came; others are made legal and unique. A result has the id of its call. Arguments that were not JSON stay `{}`.
 * - It starts with a user message and ends with a user message, a result, or an answer that its service paused. Neighbours of one role are left to the codec.
 * - Messages that need no change are returned by identity; changed ones are the same objects at each call, for the same `target`. The cost is
 *   one walk.
 * - Lone surrogates are left to `toJson`.
 */
export function normalise(messages: readonly Message[], target: NormaliseTarget): readonly Message[] {
  const walk = new HistoryWalk(target)
  for (const message of messages) walk.add(message)
  walk.close()
  return walk.list
}

/** Stands for a response that failed, so that the question before it and the next one stay two turns. */
const noResponse: AssistantMessage = {
  role: 'assistant',
  content: [text('[No response: the request failed]')],
  stopReason: 'stop',
  model: '',
  provider: '',
  usage: emptyUsage(),
  timestamp: 0,
}

/** Stands where the result of a call belongs until it comes, or until there can be none. */
const awaited: ToolResultMessage = { role: 'toolResult', toolCallId: '', toolName: '', content: [], isError: true, timestamp: 0 }
const missingResult = perObject(noResult)

const nothing: ReadonlySet<string> = new Set()

/** A call that has no result yet. */
interface OpenCall {
  /** Where its result belongs in the list. */
  index: number
  call: ToolCallContent
}

/**
 * `normalise`, message by message. A walk that stands on a `base` goes on where that one stopped, and changes nothing of it but the end of
 * the list they share.
 */
export class HistoryWalk {
  /** Normalised messages: those of the base, then those of this walk. */
  readonly list: Message[]
  /** A result came for a call that the base has already closed: only a walk from the beginning can put it in its place. */
  isLate = false
  /** What media were left out so far, and why. */
  leftOut: ReadonlySet<string>
  /** The last answer, while it is not known how somebody goes on after having stopped it. */
  #stopped: AssistantMessage | undefined
  /** Nothing but failures came since the last question. */
  #hasFailed = false
  readonly #target: NormaliseTarget
  readonly #base: HistoryWalk | undefined
  readonly #used = new Set<string>()
  /** The next suffix to try for an id that repeats. */
  #suffixes: Map<string, number> | undefined
  /** Unanswered calls by their original id. Ids may repeat over turns: the latest call counts. */
  readonly #open = new Map<string, OpenCall>()
  /** What stands before this may not change any more. */
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

  /** Everything so far stays as it is; returns how many messages that are. */
  settle(): number {
    this.#fillIn()
    this.#settled = this.list.length
    return this.#settled
  }

  /** Forgets what walks that stand on this one have put behind it. */
  truncate(): void {
    this.list.length = this.#settled
  }

  /** Takes the next message of the history. */
  add(message: Message): void {
    if (message.role === 'assistant' && message.stopReason === 'aborted') {
      this.#stopped = message
      return
    }
    if (message.role === 'assistant') this.#hasFailed = message.stopReason === 'error'
    if (message.role === 'user' && (this.#stopped !== undefined || this.#hasFailed)) this.#keepStopped()
    // What was asked again without a word has its answer.
    if (message.role === 'assistant' && message.stopReason !== 'error') this.#stopped = undefined
    this.#addCleaned(message)
  }

  /** The user goes on from what an aborted answer had said. */
  #keepStopped(): void {
    const stopped = this.#stopped
    this.#stopped = undefined
    const said = stopped && stoppedText(stopped)
    if (said !== undefined) this.#addCleaned(said)
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

  /** The history ends here. */
  close(): void {
    this.#fillIn()
    if (this.list.length === 0) this.list.push(opening)
    const last = this.list.at(-1)
    // The service goes on with what it paused.
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
      // A repeated id within one answer: the first call takes the first result, the second is told there is none.
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

  /** Calls without a result so far get one that says so. */
  #fillIn(): void {
    for (const { index, call } of this.#open.values()) if (index >= this.#settled) this.list[index] = missingResult(call)
  }

  /** Whether a call with this id waits for its result. */
  isOpen(id: string): boolean {
    return this.#open.has(id) || this.#base?.isOpen(id) === true
  }

  /** Whether an answer so far has a call with this id. */
  isUsed(id: string): boolean {
    return this.#used.has(id) || this.#base?.isUsed(id) === true
  }

  /** The next suffix to try for an id that repeats. */
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

/** Copies with other ids; the one made last is given again as long as the ids are the same, so that its encoded form is found again. */
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
