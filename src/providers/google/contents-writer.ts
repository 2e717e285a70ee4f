import type { ToolCallContent } from '../../contract/message/content.ts'
import { type Message, toolCallsOf } from '../../contract/message/message.ts'
import { GrowingText, toJson } from '../kit/encode/json-pieces.ts'
import type { HistoryWriter } from '../kit/history/history-memory.ts'
import type { MessageEncoder } from './encode-message.ts'

type Role = 'user' | 'model'

const opening: Record<Role, string> = { user: '{"role":"user","parts":[', model: '{"role":"model","parts":[' }

/**
 * Writes the `contents` of a request. For models without system instructions, `preamble` starts the first user content.
 *
 * **Contract**
 * - Merges adjacent messages with the same role into one content: all results of parallel calls, then the user messages.
 * - Each result contains the name of its call.
 */
export class ContentsWriter implements HistoryWriter {
  readonly #encoder: MessageEncoder
  #text = new GrowingText()
  #role: Role | undefined
  /** Calls of the last response, and the number of results so far. */
  #calls: readonly ToolCallContent[] = []
  #answered = 0
  /** Media that follow the results. */
  #media = ''

  constructor(encoder: MessageEncoder, preamble = '') {
    this.#encoder = encoder
    if (preamble !== '') this.#add('user', toJson({ text: preamble }))
  }

  fork(): this {
    const fork = new ContentsWriter(this.#encoder)
    fork.#text = this.#text.fork()
    fork.#role = this.#role
    fork.#calls = this.#calls
    fork.#answered = this.#answered
    fork.#media = this.#media
    return fork as this
  }

  add(message: Message): void {
    if (message.role === 'toolResult') {
      const { part, media } = this.#encoder.result(message, this.#calls[this.#answered++]?.name ?? message.toolName)
      this.#add('user', part)
      if (media !== '') this.#media = this.#media === '' ? media : `${this.#media},${media}`
      return
    }
    this.#add('user', this.#media)
    this.#media = ''
    if (message.role === 'user') this.#add('user', this.#encoder.user(message))
    else {
      this.#add('model', this.#encoder.answer(message))
      this.#calls = toolCallsOf(message.content)
      this.#answered = 0
    }
  }

  /** Returns the contents as JSON. Nothing may be added afterwards. */
  toJson(): string {
    this.#add('user', this.#media)
    return `[${this.#text.toString()}]}]`
  }

  #add(role: Role, parts: string): void {
    if (parts === '') return
    if (this.#role === role) this.#text.append(',')
    else this.#text.append(this.#role === undefined ? opening[role] : `]},${opening[role]}`)
    this.#text.append(parts)
    this.#role = role
  }
}
