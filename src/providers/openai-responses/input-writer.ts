import { type AssistantMessage, callsToAnswer, type Message } from '../../contract/message/message.ts'
import { GrowingText } from '../kit/encode/growing-text.ts'
import type { HistoryWriter } from '../kit/history/history-memory.ts'
import { type MessageEncoder, userOfParts } from './encode-message.ts'

/**
 * Writes the `input` of a Responses request.
 *
 * **Contract**
 * - Images that results cannot carry follow in one user message behind the last of them.
 * - An answer whose ids were already sent goes without them: the service refuses an id that stands twice.
 * - With `isBare` no answer carries reasoning, nor the ids that hang on it.
 */
export class InputWriter implements HistoryWriter {
  /** Reasoning of an earlier answer is among the items. */
  hasReasoning = false
  readonly #encoder: MessageEncoder
  readonly #isBare: boolean
  readonly #base: InputWriter | undefined
  readonly #ids = new Set<string>()
  readonly #asked = new Set<string>()
  readonly #text: GrowingText
  /** Parts that wait for the end of the results. */
  #images = ''

  constructor(encoder: MessageEncoder, isBare: boolean, base?: InputWriter) {
    this.#encoder = encoder
    this.#isBare = isBare
    this.#base = base
    this.#text = base === undefined ? new GrowingText() : base.#text.fork()
    if (base === undefined) return
    this.hasReasoning = base.hasReasoning
    this.#images = base.#images
  }

  fork(): this {
    return new InputWriter(this.#encoder, this.#isBare, this) as this
  }

  add(message: Message): void {
    if (message.role !== 'toolResult' && this.#images !== '') {
      this.#push(userOfParts(this.#images))
      this.#images = ''
    }
    if (message.role === 'user') this.#push(this.#encoder.user(message))
    else if (message.role === 'assistant') this.#push(this.#answer(message))
    else if (this.isAsked(message.toolCallId)) this.#push(this.#isBare ? '' : this.#encoder.decision(message))
    else {
      const { json, imageParts } = this.#encoder.result(message)
      this.#push(json)
      if (imageParts !== '') this.#images = this.#images === '' ? imageParts : `${this.#images},${imageParts}`
    }
  }

  /** The items behind `system`, as JSON. */
  toJson(system: string): string {
    const images = this.#images === '' ? '' : userOfParts(this.#images)
    return `[${[system, this.#text.toString(), images].filter((part) => part !== '').join(',')}]`
  }

  #push(item: string): void {
    if (item === '') return
    if (!this.#text.isEmpty) this.#text.append(',')
    this.#text.append(item)
  }

  #answer(message: AssistantMessage): string {
    for (const call of callsToAnswer(message.content)) if (call.isOfService === true) this.#asked.add(call.id)
    if (this.#isBare) return this.#encoder.bareAnswer(message)
    const { json, ids, hasReasoning } = this.#encoder.answer(message)
    let isRepeated = false
    for (const id of ids) {
      if (this.has(id)) isRepeated = true
      this.#ids.add(id)
    }
    if (isRepeated) return this.#encoder.bareAnswer(message)
    if (hasReasoning) this.hasReasoning = true
    return json
  }

  /** Whether the service waits for a decision about the call with this id. */
  isAsked(id: string): boolean {
    return this.#asked.has(id) || this.#base?.isAsked(id) === true
  }

  /** Whether an item with this id was written. */
  has(id: string): boolean {
    return this.#ids.has(id) || this.#base?.has(id) === true
  }
}
