import { ProviderError } from '../../../contract/errors.ts'
import { isId } from '../../../contract/message/identity.ts'
import type { AssistantMessage } from '../../../contract/message/message.ts'
import type { AssistantBuilder } from './assistant-builder.ts'

/** Turns the bytes of one response into operations on a builder. One per call; everything is synchronous. */
export interface StreamDecoder {
  readonly builder: AssistantBuilder
  /** The protocol's terminal event, for people: `message_stop`. */
  readonly terminal: string
  /** The terminal was seen: the message is complete even if the connection ends badly from here on. */
  readonly isComplete: boolean
  /** Nothing that matters can follow: the call resolves. */
  readonly isDone: boolean
  /**
   * What the protocol has yet to say once the message is complete: each is waited for 15 s after the last content, whatever pings come. With
   * `content`, a response whose connection breaks before the end of the body is no success. Default: nothing, which is waited for 2 s.
   */
  readonly owed?: 'usage' | 'content' | undefined
  /** Counts pieces of content; pings and comments leave it unchanged. */
  readonly progress: number
  /** The response has begun with this content type: for protocols with several framings. */
  begin?(contentType: string): void
  /** Throws `StreamRefusal` for an error inside the stream, `ProviderError` for bytes that cannot be read. */
  push(bytes: Uint8Array): void
  /** The body ended: reads what is left of the last frame. May throw like `push`. */
  end(): void
  /** The finished message. Called once, after `isComplete`. */
  finish(): AssistantMessage
}

/** Thrown by a decoder for an error object inside a stream; `sendStreaming` classifies it. */
export class StreamRefusal extends Error {
  /** The error object as parsed JSON. */
  readonly body: unknown

  constructor(body: unknown) {
    super('error inside the stream')
    this.body = body
  }
}

/** Data that says nothing: an event without any, and the end marker of OpenAI, which gateways send in other protocols too, or as a text of JSON. */
export function isMarker(data: string): 'done' | 'blank' | undefined {
  // Nothing that long is one.
  if (data.length > 32) return undefined
  const text = data.trim()
  return text === '' ? 'blank' : text === '[DONE]' || text === '"[DONE]"' ? 'done' : undefined
}

/** The JSON of one event of a stream; `Event` is what its protocol says of it, and each field is checked before use. Throws `ProviderError` `network` where it is none. */
export function parsedEvent<Event>(data: string, service: string): Event {
  try {
    return JSON.parse(data)
  } catch {
    throw new ProviderError('network', `${service} sent an event that is not JSON: ${data.slice(0, 100)}`)
  }
}

/** A count as a service reports it; what is no count (absent, negative, no number, more than can be counted) is `otherwise`. */
export function tokenCount(value: unknown, otherwise = 0): number {
  return typeof value === 'number' && value >= 0 && value <= maxTokens ? value : otherwise
}

/** A count of a later report. A zero never erases what an earlier one said, nor does what is no count. */
export function laterCount(value: unknown, before: number): number {
  return tokenCount(value) || before
}

/** Dollars as a service reports them; `undefined` for what is no cost (negative, no number, more than a number holds). */
export function reportedCost(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : undefined
}

/** So that sums of counts stay exact. */
const maxTokens = 2 ** 48

/** The model that gives the response from here on: the last of them answered. What is no text counts for nothing. */
export function fellBackTo(message: AssistantMessage, responseModel: unknown): void {
  if (isId(responseModel)) message.responseModel = responseModel
}

/** What a stream with a second message in it is refused with: which of them is the answer cannot be told. */
export function secondMessage(service: string): ProviderError {
  return new ProviderError(
    'network',
    `${service} began a second message in the same answer. Check what stands between here and the service.`,
  )
}

/**
 * The answer filled the context window, which is an overflow as if the prompt had: `message` says so, and a caller may shorten the history
 * and ask again. Throws `ProviderError` `contextOverflow` where nothing came.
 */
export function filledContext(message: AssistantMessage): AssistantMessage {
  const text = 'The answer does not fit the context window beside the prompt. Shorten or compact the conversation.'
  if (message.content.length === 0) throw new ProviderError('contextOverflow', text)
  message.errorMessage = text
  return message
}
