import { ProviderError } from '../../../contract/errors.ts'
import { isId } from '../../../contract/message/identity.ts'
import type { AssistantMessage } from '../../../contract/message/message.ts'
import type { AssistantBuilder } from './assistant-builder.ts'

/** Turns the bytes of one response into operations on a builder. One per call; synchronous. */
export interface StreamDecoder {
  readonly builder: AssistantBuilder
  /** Display name of the protocol's terminal event, such as `message_stop`. */
  readonly terminal: string
  /** The terminal event arrived: the message is complete, even if the connection fails later. */
  readonly isComplete: boolean
  /** Nothing relevant can follow: the call resolves. */
  readonly isDone: boolean
  /**
   * Data still expected after the message is complete. Each is awaited for 15 s after the last content, regardless of pings. With `content`,
   * a connection that breaks before the end of the body is a failure. Default: nothing, awaited for 2 s.
   */
  readonly owed?: 'usage' | 'content' | undefined
  /** Counts content fragments, without pings and comments. */
  readonly progress: number
  /** Receives the content type of the response, for protocols with several framings. */
  begin?(contentType: string): void
  /** Decodes a chunk. Throws `StreamRefusal` for an error inside the stream, `ProviderError` for unreadable bytes. */
  push(bytes: Uint8Array): void
  /** Decodes the rest of the last frame at the end of the body. May throw like `push`. */
  end(): void
  /** Returns the finished message. Called once, after `isComplete`. */
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

/** Data without meaning: an empty event, and OpenAI's end marker, which gateways also send in other protocols or as JSON text. */
export function isMarker(data: string): 'done' | 'blank' | undefined {
  // The end marker is shorter.
  if (data.length > 32) return undefined
  const text = data.trim()
  return text === '' ? 'blank' : text === '[DONE]' || text === '"[DONE]"' ? 'done' : undefined
}

/** Parses the JSON of one stream event of type `Event`; each field is checked before use. Throws `ProviderError` `network` for invalid JSON. */
export function parsedEvent<Event>(data: string, service: string): Event {
  try {
    return JSON.parse(data)
  } catch {
    throw new ProviderError('network', `${service} sent an event that is not JSON: ${data.slice(0, 100)}`)
  }
}

/** Returns a count; `otherwise` if it is absent, negative, not a number or too large. */
export function tokenCount(value: unknown, otherwise = 0): number {
  return typeof value === 'number' && value >= 0 && value <= maxTokens ? value : otherwise
}

/** Returns a count of a later report. A zero or an invalid count never replaces an earlier one. */
export function laterCount(value: unknown, before: number): number {
  return tokenCount(value) || before
}

/** Returns dollars; `undefined` for an invalid cost (negative, not a number, too large). */
export function reportedCost(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : undefined
}

/** Keeps sums of counts exact. */
const maxTokens = 2 ** 48

/** Sets the model that responds from now on. The last one counts; a value that is not a string is ignored. */
export function fellBackTo(message: AssistantMessage, responseModel: unknown): void {
  if (isId(responseModel)) message.responseModel = responseModel
}

/** The error of a stream with a second message, because it is unknown which one is the response. */
export function secondMessage(service: string): ProviderError {
  return new ProviderError(
    'network',
    `${service} began a second message in the same answer. Check what stands between here and the service.`,
  )
}

/**
 * The response filled the context window, which counts as an overflow of the prompt: `message` says so, and the caller may shorten the history
 * and retry. Throws `ProviderError` `contextOverflow` if there is no output.
 */
export function filledContext(message: AssistantMessage): AssistantMessage {
  const text = 'The response does not fit the context window after the prompt. Shorten or compact the conversation.'
  if (message.content.length === 0) throw new ProviderError('contextOverflow', text)
  message.errorMessage = text
  return message
}
