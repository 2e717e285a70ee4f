import type { ToolCallContent } from '../../types/content.ts'
import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from '../../types/message.ts'
import { cleanMessage, type NormaliseTarget } from './clean-message.ts'
import { perObject } from './encoded-cache.ts'
import { hashText } from './hash.ts'

export type { NormaliseTarget } from './clean-message.ts'

const opening: UserMessage = { role: 'user', content: [{ type: 'text', text: '(conversation continues)' }], timestamp: 0 }
const closing: UserMessage = { role: 'user', content: [{ type: 'text', text: 'Continue.' }], timestamp: 0 }

/** A cleaned message; `ids` are the original ids of its calls, in order. */
interface Entry {
  message: Message | undefined
  ids: readonly string[]
}

const entriesOf = perObject((target: NormaliseTarget) => perObject((message: Message) => entryOf(message, target)))
const missingResult = perObject(noResult)
const renamed = new WeakMap<Message, Message>()

/**
 * Any history, made such that `target` accepts it.
 *
 * **Contract**
 * - Failed and aborted answers are left out, and so is what nobody can read: blank text, foreign reasoning, foreign state, images for a
 *   model without eyes.
 * - Right after each answer with calls stands exactly one result per call, in the order of the calls: displaced ones are pulled up,
 *   missing ones made up (`No result provided`, an error), orphans and repeats left out.
 * - Ids are legal and unique, the same on both sides. Arguments that were not JSON stay `{}`.
 * - It starts with a user message and ends with a user message or a result. Neighbours of one role are left to the codec.
 * - Messages that need no change are returned by identity; changed ones are the same objects at each call. The cost is one walk.
 * - Lone surrogates are left to `toJson`.
 *
 * Source: ARCHITECTURE §3 "History", reference/providers.md §0 "Replaying".
 */
export function normalise(messages: readonly Message[], target: NormaliseTarget): readonly Message[] {
  const entries = entriesOf(target)
  const walk = new Walk(target)
  for (const message of messages) {
    const { message: cleaned, ids } = entries(message)
    if (cleaned === undefined) continue
    if (cleaned.role === 'assistant') walk.answer(cleaned, ids)
    else if (cleaned.role === 'user') walk.list.push(cleaned)
    else if (message.role === 'toolResult') walk.result(message.toolCallId, cleaned)
  }
  if (walk.list[0]?.role !== 'user') walk.list.unshift(opening)
  if (walk.list.at(-1)?.role === 'assistant') walk.list.push(closing)
  return walk.list
}

class Walk {
  readonly list: Message[] = []
  readonly #target: NormaliseTarget
  readonly #used = new Set<string>()
  /** Where the result of an unanswered call belongs. Ids may repeat over turns: the latest call counts. */
  readonly #open = new Map<string, number>()

  constructor(target: NormaliseTarget) {
    this.#target = target
  }

  answer(cleaned: AssistantMessage, ids: readonly string[]): void {
    if (ids.length === 0) {
      this.list.push(cleaned)
      return
    }
    const message = this.#withUniqueIds(cleaned, ids)
    this.list.push(message)
    let next = 0
    for (const block of message.content) {
      if (block.type !== 'toolCall') continue
      const id = ids[next++] ?? block.id
      // A repeated id within one answer: the first call takes the first result, the second is told there is none.
      const isRepeated = this.#openedSince(id, this.list.length - next)
      if (!isRepeated) this.#open.set(id, this.list.length)
      this.list.push(missingResult(block))
    }
  }

  result(id: string, cleaned: ToolResultMessage): void {
    const index = this.#open.get(id)
    const placeholder = index === undefined ? undefined : this.list[index]
    if (index === undefined || placeholder?.role !== 'toolResult') return
    this.#open.delete(id)
    this.list[index] = withCallId(cleaned, placeholder.toolCallId)
  }

  #openedSince(id: string, index: number): boolean {
    const at = this.#open.get(id)
    return at !== undefined && at >= index
  }

  #withUniqueIds(message: AssistantMessage, ids: readonly string[]): AssistantMessage {
    const legal: string[] = []
    let isSame = true
    for (const block of message.content) {
      if (block.type !== 'toolCall') continue
      let id = block.id
      for (let n = 2; this.#used.has(id); n++) id = this.#target.toolCallId(`${block.id}_${n}_${hashText(`${ids[legal.length]} ${n}`)}`)
      if (id !== block.id) isSame = false
      this.#used.add(id)
      legal.push(id)
    }
    return isSame ? message : withCallIds(message, legal)
  }
}

function entryOf(message: Message, target: NormaliseTarget): Entry {
  const cleaned = cleanMessage(message, target)
  if (cleaned === undefined || message.role !== 'assistant') return { message: cleaned, ids: [] }
  return { message: cleaned, ids: message.content.filter((block) => block.type === 'toolCall').map((call) => call.id) }
}

/** The copy made last time is given again as long as the ids are the same, so that its encoded form is found again. */
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
  if (message.toolCallId === toolCallId) return message
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
