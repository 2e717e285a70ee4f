import type { AssistantMessage, Message, ToolResultMessage } from '../../contract/message/message.ts'
import { GrowingText, joined } from '../kit/encode/json-pieces.ts'
import type { HistoryWriter } from '../kit/history/history-memory.ts'
import { approvalJson, type EchoMode, type MessageEncoder, userOfParts } from './encode-message.ts'

/**
 * Writes the `input` of a Responses request.
 *
 * **Contract**
 * - One user message after the results contains media that results cannot contain.
 * - Writes a response without ids if one of its ids was already written, because the API rejects duplicates.
 * - In the `bare` mode, writes neither reasoning nor ids that depend on it.
 * - The result of a call made by provider code identifies this code. A decision on a provider-executed call responds to its approval
 *   request.
 */
export class InputWriter implements HistoryWriter {
  /** Whether the items contain reasoning of earlier responses. */
  hasReasoning = false
  /** Whether the items contain container output. */
  hasContainers = false
  readonly #encoder: MessageEncoder
  readonly #mode: EchoMode
  readonly #base: InputWriter | undefined
  readonly #ids = new Set<string>()
  readonly #text: GrowingText
  /** Media that follow the results. */
  #media = ''
  /** The response whose results may follow next. */
  #asking: AssistantMessage | undefined

  constructor(encoder: MessageEncoder, mode: EchoMode, base?: InputWriter) {
    this.#encoder = encoder
    this.#mode = mode
    this.#base = base
    this.#text = base === undefined ? new GrowingText() : base.#text.fork()
    if (base === undefined) return
    this.hasReasoning = base.hasReasoning
    this.hasContainers = base.hasContainers
    this.#media = base.#media
    this.#asking = base.#asking
  }

  fork(): this {
    return new InputWriter(this.#encoder, this.#mode, this) as this
  }

  add(message: Message): void {
    if (message.role === 'toolResult') {
      this.#result(message)
      return
    }
    if (this.#media !== '') {
      this.#push(userOfParts(this.#media))
      this.#media = ''
    }
    if (message.role === 'user') this.#push(this.#encoder.user(message))
    else {
      this.#asking = message
      this.#push(this.#answer(message))
    }
  }

  /** Returns the items after `system` as JSON. */
  toJson(system: string): string {
    const media = this.#media === '' ? '' : userOfParts(this.#media)
    return `[${joined(system, joined(this.#text.toString(), media))}]`
  }

  #push(item: string): void {
    if (item === '') return
    if (!this.#text.isEmpty) this.#text.append(',')
    this.#text.append(item)
  }

  #result(message: ToolResultMessage): void {
    const asked = this.#asking && this.#encoder.expected(this.#asking)
    if (asked?.approvals.has(message.toolCallId)) {
      this.#push(approvalJson(message))
      return
    }
    const { json, mediaParts } = this.#encoder.result(message)
    const caller = asked?.callers.get(message.toolCallId)
    this.#push(caller === undefined ? json : `${json.slice(0, -1)},"caller":${caller}}`)
    if (mediaParts !== '') this.#media = this.#media === '' ? mediaParts : `${this.#media},${mediaParts}`
  }

  #answer(message: AssistantMessage): string {
    const { json, ids, hasReasoning, hasContainers } = this.#encoder.answer(message, this.#mode)
    let isRepeated = false
    for (const id of ids) {
      if (this.has(id)) isRepeated = true
      this.#ids.add(id)
    }
    if (isRepeated) return this.#encoder.answer(message, 'bare').json
    if (hasReasoning) this.hasReasoning = true
    if (hasContainers) this.hasContainers = true
    return json
  }

  /** Returns whether an item with this id was written. */
  has(id: string): boolean {
    return this.#ids.has(id) || this.#base?.has(id) === true
  }
}
