import type { AssistantMessage } from '../../types/message.ts'
import type { EncodedRequest } from '../../types/provider.ts'
import type { AssistantBuilder } from './assistant-builder.ts'
import type { TransportOptions } from './factory-options.ts'

/** Turns the bytes of one response into operations on a builder. One per call; everything is synchronous. */
export interface StreamDecoder {
  readonly builder: AssistantBuilder
  /** The protocol's terminal event, for people: `message_stop`. */
  readonly terminal: string
  /** The terminal was seen: the message is complete even if the connection ends badly from here on. */
  readonly isComplete: boolean
  /** Nothing that matters can follow: reading stops. */
  readonly isDone: boolean
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

/** One model call on the wire. */
export interface Exchange {
  /** The service, for people: `Anthropic`. */
  service: string
  encoded: EncodedRequest
  decoder: StreamDecoder
  /** Owned by the caller. */
  signal: AbortSignal
  transport: TransportOptions
  /** The key inside `encoded`, or its secret parts, to keep them out of messages. */
  credential?: string | readonly string[]
  /** What a browser user can do when the service refuses cross-origin calls. */
  browserHint?: string
  emptyBodyIsOverflow?: boolean
  /** Told what the service said when it refused, as text or as parsed JSON, before the call rejects. */
  onRefusal?: (body: unknown) => void
  /** What to say beside the usual when the key is rejected. */
  authHint?: string
}
