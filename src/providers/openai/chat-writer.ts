import type { AssistantMessage, Message, UserMessage } from '../../contract/message/message.ts'
import type { RequestSettings } from '../../contract/model/request-settings.ts'
import { type CacheMarks, GrowingText, joined, joinedAll, toJson } from '../kit/encode/json-pieces.ts'
import type { HistoryWriter } from '../kit/history/history-memory.ts'
import { type EncodedResult, type MessageEncoder, userOfParts } from './encode-message.ts'

/** What a backend that wants an answer between results and the next question is told the model said. */
const bridge = toJson({ role: 'assistant', content: 'The tool results are in.' })

/**
 * Writes the `messages` of Chat Completions in groups: answers, their results, and what the user said then.
 *
 * **Contract**
 * - Tool messages carry text only; images of a group of results follow in one user message after the last of them.
 * - Neighbouring user messages become one, and so do neighbouring assistant messages without calls between them.
 */
export class ChatWriter implements HistoryWriter {
  readonly #encoder: MessageEncoder
  /** The groups before the current one, comma-separated, without the message that ends them. */
  #text = new GrowingText()
  /** The message that ended the request before this one. */
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
   * The messages behind `system`, as JSON. With `marks`, a cache breakpoint stands behind the last one, and behind the one that ended the request before
   * this one: the service searches a limited number of blocks for what it wrote.
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

  /** The messages of the current group. */
  #pieces(): string[] {
    const pieces: string[] = []
    const encoder = this.#encoder
    const [answer] = this.#answers
    if (answer !== undefined) pieces.push(encoder.assistant(this.#answers.length === 1 ? answer : mergedAnswer(answer, this.#answers)))
    for (const { json } of this.#results) pieces.push(json)
    const users = this.#users
    const images = this.#results.map(({ imageParts }) => imageParts).filter((parts) => parts !== '')
    const said = users.length + images.length
    if (said > 0 && this.#results.length > 0 && encoder.answersBeforeUser) pieces.push(bridge)
    const [only] = users
    if (only !== undefined && said === 1) pieces.push(encoder.user(only))
    else if (said > 0) pieces.push(userOfParts(joinedAll([...images, ...users.map(encoder.userParts)])))
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

/** An encoded message with a breakpoint on its last part. */
export function withCacheMark(json: string, { cacheTtl }: RequestSettings): string {
  // Our own JSON: content is a string or a list of parts.
  const message = JSON.parse(json) as { content: string | Record<string, unknown>[] }
  const parts = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  const last = parts.pop()
  return JSON.stringify({
    ...message,
    content: [...parts, { ...last, cache_control: { type: 'ephemeral', ...(cacheTtl === '1h' && { ttl: '1h' }) } }],
  })
}
