import type { Citation } from '../../../contract/message/content.ts'
import type { Usage } from '../../../contract/model/usage.ts'
import { checkOptions } from '../../../contract/shape/read.ts'
import { aFlag, aNumber, anything, aText, options as optionsOf, required } from '../../../contract/shape/shape.ts'
import type { RunEncoder } from '../../shared/encoding.ts'
import {
  AnswerCalls,
  type AnswerEnd,
  AnswerFold,
  AnswerMessage,
  type AnswerStepsOptions,
  type AnswerWriter,
} from '../shared/answer-fold.ts'
import type { RunFailed } from '../shared/failure.ts'
import { urlCitation } from '../shared/url-citation.ts'
import { type ChatChunk, type ChatDelta, type ChatFinishReason, chatUsage, type ErrorChunk } from './chat-completion.ts'

/** Options for a chat completion encoder. */
export interface ChatEncoderOptions extends AnswerStepsOptions {
  id: string
  /** Agent name. */
  model: string
  /** Epoch seconds. */
  created: number
  /** Whether the last chunk contains the usage. Always true with `isWhole`. Default: `false`. */
  includeUsage?: boolean
}

/** Encodes one run as the chunks of one chat completion. */
export interface ChatEncoder extends RunEncoder<ChatChunk | ErrorChunk> {
  /** Why the run ended without a response. */
  readonly failure: RunFailed | undefined
}

const encoderOptions = optionsOf<ChatEncoderOptions>({
  id: required(aText),
  model: required(aText),
  created: required(aNumber),
  includeUsage: aFlag,
  given: anything,
  isWhole: aFlag,
})

/**
 * Creates an encoder that converts a run to a chat completion of OpenAI's API.
 *
 * **Contract**
 * - A run becomes one response. The texts of several turns are separated by an empty line. Calls to the caller's tools end the response.
 * - Omits the agent's own calls and their input requests, which the format cannot represent. Deny pending requests, or call `suspend` when
 *   the encoder is `waiting`.
 * - With `isWhole`, pass the chunks to `chatCompletionOf`. Pure: reads no clock and creates no ids. Throws only for unknown options.
 *
 * Source: docs/guides/openai-endpoint.md
 */
export function chatCompletionEncoder(options: ChatEncoderOptions): ChatEncoder {
  checkOptions(options, encoderOptions)
  return new Encoder(options)
}

class Encoder extends AnswerFold<ChatChunk | ErrorChunk, ChatEncoderOptions> implements ChatEncoder {
  protected readonly writer = new ChatWriter((delta) => this.#send(delta))
  protected readonly message = new AnswerMessage(this.writer, this.options)
  protected readonly calls = new AnswerCalls(this.writer)

  protected override failed({ error }: RunFailed): void {
    this.out.push({ error })
  }

  protected override finish(end: AnswerEnd, used: Usage): void {
    const { includeUsage = false, isWhole = false } = this.options
    this.writer.begin()
    this.#send({}, this.writer.calls > 0 ? 'tool_calls' : end)
    if (includeUsage || isWhole) this.out.push({ ...this.#head(), choices: [], usage: chatUsage(used) })
  }

  #send(delta: ChatDelta, reason: ChatFinishReason | null = null): void {
    const choice = { index: 0 as const, delta, logprobs: null, finish_reason: reason }
    this.out.push({ ...this.#head(), choices: [choice], ...(this.options.includeUsage === true && { usage: null }) })
  }

  #head(): Pick<ChatChunk, 'id' | 'object' | 'created' | 'model'> {
    const { id, model, created } = this.options
    return { id, object: 'chat.completion.chunk', created, model }
  }
}

/** Writes the deltas of one response. */
class ChatWriter implements AnswerWriter {
  readonly #write: (delta: ChatDelta) => void
  #isBegun = false
  /** Number of UTF-16 units of text written so far. */
  #sentChars = 0
  /** Message, block and start offset of the current text. */
  #speaker: { messageId: string; contentIndex: number; start: number } | undefined
  /** Number of calls written so far. */
  calls = 0

  constructor(write: (delta: ChatDelta) => void) {
    this.#write = write
  }

  clear(): void {
    this.#isBegun = false
    this.#sentChars = 0
    this.#speaker = undefined
    this.calls = 0
  }

  begin(): void {
    if (this.#isBegun) return
    this.#isBegun = true
    this.#write({ role: 'assistant', content: '' })
  }

  text(messageId: string, contentIndex: number, delta: string): void {
    const isNext = this.#speaker !== undefined && this.#speaker.messageId !== messageId
    const content = isNext ? `\n\n${delta}` : delta
    const start = this.#sentChars + content.length - delta.length
    if (isNext || this.#speaker?.contentIndex !== contentIndex) this.#speaker = { messageId, contentIndex, start }
    this.#sentChars += content.length
    this.#send({ content })
  }

  reasoning(_messageId: string, _contentIndex: number, delta: string): void {
    this.#send({ reasoning_content: delta })
  }

  cite(messageId: string, contentIndex: number, citation: Citation): void {
    const speaker = this.#speaker
    const isOfIt = speaker?.messageId === messageId && speaker.contentIndex === contentIndex
    const cited = isOfIt ? urlCitation(citation, speaker.start, this.#sentChars) : undefined
    if (cited === undefined) return
    const { type, ...place } = cited
    this.#send({ annotations: [{ type, url_citation: place }] })
  }

  picture(data: string, mimeType: string): void {
    this.#send({ images: [{ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }] })
  }

  refusal(_messageId: string, refusal: string): void {
    this.#send({ refusal })
  }

  call(id: string, name: string, args: string): void {
    this.#send({ tool_calls: [{ index: this.calls, id, type: 'function', function: { name, arguments: args } }] })
    this.calls += 1
  }

  #send(delta: ChatDelta): void {
    this.begin()
    this.#write(delta)
  }
}

/** Formats a chunk as a server-sent event. */
export function openAiSse(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** Last line of a chunk stream. */
export const chatStreamEnd = 'data: [DONE]\n\n'
