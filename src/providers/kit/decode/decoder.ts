import { ProviderError } from '../../../contract/errors.ts'
import { isId } from '../../../contract/message/identity.ts'
import type { AssistantMessage } from '../../../contract/message/message.ts'
import type { AssistantBuilder } from './assistant-builder.ts'

/** Decodes one response's bytes into builder operations, synchronously. */
export interface StreamDecoder {
  readonly builder: AssistantBuilder
  /** Display name of the protocol's terminal event, such as `message_stop`. */
  readonly terminal: string
  /** Whether the terminal event arrived. The message is then complete, even if the connection fails later. */
  readonly isComplete: boolean
  /** Whether nothing relevant can follow, so that the call resolves. */
  readonly isDone: boolean
  /**
   * Data that is still expected after the message is complete. The call waits 15 s after the last content for it, regardless of pings. With
   * `content`, a connection that breaks before the end of the body is a failure. Default: no data, and a wait of 2 s.
   */
  readonly owed?: 'usage' | 'content' | undefined
  /** Number of content fragments, excluding pings and comments. */
  readonly progress: number
  /** Receives the response's content type, for protocols with several framings. */
  begin?(contentType: string): void
  /** Decodes a chunk. Throws `StreamRefusal` for an error event in the stream, and `ProviderError` for unreadable bytes. */
  push(bytes: Uint8Array): void
  /** Decodes the rest of the last frame at the end of the body. May throw like `push`. */
  end(): void
  /** Returns the finished message. Called once, after `isComplete`. */
  finish(): AssistantMessage
}

/** Thrown by a decoder for an error object in the stream. `sendStreaming` classifies it. */
export class StreamRefusal extends Error {
  /** The error object, as parsed JSON. */
  readonly body: unknown

  constructor(body: unknown) {
    super('error inside the stream')
    this.body = body
  }
}

/**
 * Returns `blank` for an empty event and `done` for OpenAI's end marker, which gateways also send in other protocols or as a JSON string.
 */
export function isMarker(data: string): 'done' | 'blank' | undefined {
  // The end marker is shorter than this.
  if (data.length > 32) return undefined
  const text = data.trim()
  return text === '' ? 'blank' : text === '[DONE]' || text === '"[DONE]"' ? 'done' : undefined
}

/**
 * Parses the JSON of one stream event. The result is unvalidated: check each field before use. Throws `ProviderError` `network` for invalid
 * JSON.
 */
export function parsedEvent<Event>(data: string, service: string): Event {
  try {
    return JSON.parse(data)
  } catch {
    throw new ProviderError('network', `${service} sent an event that is not JSON: ${data.slice(0, 100)}`)
  }
}

/** Returns a valid token count, or `otherwise` if the value is absent, negative, not a number or too large. */
export function tokenCount(value: unknown, otherwise = 0): number {
  return typeof value === 'number' && value >= 0 && value <= maxTokens ? value : otherwise
}

/** Returns the count from a later report. Returns the earlier count if the later count is zero or invalid. */
export function laterCount(value: unknown, before: number): number {
  return tokenCount(value) || before
}

/** Returns a cost in USD, or `undefined` if invalid (negative, not a number, too large). */
export function reportedCost(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : undefined
}

/** Limits counts so that sums stay exact. */
const maxTokens = 2 ** 48

/** Sets the responding model. The last value wins. Ignores values that are not strings. */
export function fellBackTo(message: AssistantMessage, responseModel: unknown): void {
  if (isId(responseModel)) message.responseModel = responseModel
}

/** Creates the error for a stream with a second message: it is unclear which message is the response. */
export function secondMessage(service: string): ProviderError {
  return new ProviderError(
    'network',
    `${service} began a second message in the same response. Check any proxy between client and provider.`,
  )
}

/**
 * Marks a response that filled the context window as a prompt overflow, so that the caller can shorten the history and retry. Throws
 * `ProviderError` `contextOverflow` if there is no output.
 */
export function filledContext(message: AssistantMessage): AssistantMessage {
  const text = 'The response does not fit the context window after the prompt. Shorten or compact the conversation.'
  if (message.content.length === 0) throw new ProviderError('contextOverflow', text)
  message.errorMessage = text
  return message
}
