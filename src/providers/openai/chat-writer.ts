import type { AssistantMessage, Message, UserMessage } from '../../contract/message/message.ts'
import type { RequestSettings } from '../../contract/model/request-settings.ts'
import { type CacheMarks, GrowingText, joined, joinedAll, toJson } from '../kit/encode/json-pieces.ts'
import type { HistoryWriter } from '../kit/history/history-memory.ts'
import { type EncodedResult, type MessageEncoder, userOfParts } from './encode-message.ts'

/** Assistant message for backends that require one between tool results and the next user message. */
const bridge = toJson({ role: 'assistant', content: 'The tool results are in.' })

/**
 * Writes the `messages` of Chat Completions in groups: a response, its results, and the user messages after it.
 *
 * **Contract**
 * - Tool messages contain only text. Images of all results in a group follow in one user message.
 * - Merges adjacent user messages, and adjacent assistant messages without calls in between.
 */
export class ChatWriter implements HistoryWriter {
  readonly #encoder: MessageEncoder
  /** Earlier groups, comma-separated, without the last message. */
  #text = new GrowingText()
  /** Last message of the previous request. */
  #asked = ''
  #answers: AssistantMessage[] = []
  #results: EncodedResult[] = []
  #users: UserMessage[] = []

  constructor(encoder: MessageEncoder) {
    this.#encoder = encoder
  }

  fork(): this {
    const fork = new ChatWriter(this.#encoder)
    fork.#text = this.#text.fork()
    fork.#asked = this.#asked
    fork.#answers = [...this.#answers]
    fork.#results = [...this.#results]
    fork.#users = [...this.#users]
    return fork as this
  }

  add(message: Message): void {
    if (message.role === 'toolResult') this.#results.push(this.#encoder.toolResult(message))
    else if (message.role === 'user') this.#users.push(message)
    else {
      if (this.#results.length > 0 || this.#users.length > 0) this.#close()
      this.#answers.push(message)
    }
  }

  /**
   * Returns the messages after `system` as JSON. With `marks`, adds cache breakpoints to the last message and to the previous request's
   * last message. The provider searches only a limited number of blocks.
   */
  toJson(system: string, marks?: CacheMarks): string {
    const pieces = this.#pieces()
    const put = (message: string) => marks?.put(message) ?? message
    pieces.push(put(pieces.pop() ?? ''))
    const before = joined(this.#text.toString(), put(this.#asked))
    return `[${joined(system, joined(before, joinedAll(pieces)))}]`
  }

  #close(): void {
    for (const piece of this.#pieces()) {
      this.#settle(this.#asked)
      this.#asked = piece
    }
    this.#answers = []
    this.#results = []
    this.#users = []
  }

  #settle(message: string): void {
    if (message === '') return
    if (!this.#text.isEmpty) this.#text.append(',')
    this.#text.append(message)
  }

  /** Returns the messages of the current group. */
  #pieces(): string[] {
    const pieces: string[] = []
    const encoder = this.#encoder
    const [answer] = this.#answers
    if (answer !== undefined) pieces.push(encoder.assistant(this.#answers.length === 1 ? answer : mergedAnswer(answer, this.#answers)))
    for (const { json } of this.#results) pieces.push(json)
    const users = this.#users
    const images = this.#results.map(({ imageParts }) => imageParts).filter((parts) => parts !== '')
    const userPartCount = users.length + images.length
    if (userPartCount > 0 && this.#results.length > 0 && encoder.answersBeforeUser) pieces.push(bridge)
    const [only] = users
    if (only !== undefined && userPartCount === 1) pieces.push(encoder.user(only))
    else if (userPartCount > 0) pieces.push(userOfParts(joinedAll([...images, ...users.map(encoder.userParts)])))
    return pieces
  }
}

function mergedAnswer(first: AssistantMessage, run: readonly AssistantMessage[]): AssistantMessage {
  const states = run.flatMap(({ providerState }) => {
    const kept = providerState?.payload.parsedFiles ?? providerState?.payload.annotations
    return providerState === undefined || kept === undefined ? [] : [providerState]
  })
  const last = states.at(-1)
  const merged = { ...first, content: run.flatMap(({ content }) => content) }
  if (last === undefined) return merged
  const own = states.filter(({ model }) => model === last.model)
  const parsedFiles = own.flatMap(({ payload }) => payload.parsedFiles ?? [])
  const annotations = own.flatMap(({ payload }) => payload.annotations ?? [])
  return { ...merged, providerState: { ...last, payload: { ...last.payload, parsedFiles, annotations } } }
}

/** Adds a cache breakpoint to the last part of an encoded message. */
export function withCacheMark(json: string, { cacheTtl }: RequestSettings): string {
  // This package created the JSON, so content is a string or a list of parts.
  const message = JSON.parse(json) as { content: string | Record<string, unknown>[] }
  const parts = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  const last = parts.pop()
  return JSON.stringify({
    ...message,
    content: [...parts, { ...last, cache_control: { type: 'ephemeral', ...(cacheTtl === '1h' && { ttl: '1h' }) } }],
  })
}
