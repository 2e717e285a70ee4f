import type { ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { RateLimits } from '../../contract/model/usage.ts'
import type { SseDecoderOptions } from '../../stream/sse.ts'
import type { StreamEvent, StreamRequest } from '../../types/model/provider.ts'
import type { StreamDecoder } from './decode/decoder.ts'
import type { RefusalHint } from './errors/classify.ts'
import type { DetachedMedia } from './optional/media/media-json.ts'
import type { FileWord, MediaRules } from './optional/media/media-rules.ts'
import type { TransportOptions } from './provider-options.ts'

/** An encoded request, and the data needed to decode its response and errors. */
export interface EncodedCall {
  url: string
  /** Header names in lower case. */
  headers: Record<string, string>
  /** The body, with placeholders for `media`. */
  body: string
  /** Long data that `defineProvider` inserts into the body when sending it. */
  media?: DetachedMedia | undefined
  /** Warnings about dropped or changed input. */
  warnings: readonly string[]
  /** Name of the tool whose arguments are the response. Used by `AssistantBuilder`. */
  answerTool?: string | undefined
  /** Secrets to redact from all messages. Default: the request's credential. */
  secrets?: readonly string[]
  /** Describes the caller's probable mistake. Appended to the error if the provider rejects the request. */
  hint?: RefusalHint | undefined
  /** Adds headers that depend on the body, such as a signature. Called last, because a request may add body fields. */
  sign?: ((call: Pick<EncodedCall, 'url' | 'headers' | 'body'>) => Record<string, string> | Promise<Record<string, string>>) | undefined
  /** Whether the backend responds with 400 and no body if the prompt is too long. */
  emptyBodyIsOverflow?: boolean
}

/** Context of a new decoder. */
export interface DecoderContext {
  request: StreamRequest
  /** The provider's display name. */
  service: string
  emit: (event: StreamEvent) => void
  /** Maximum length of an event, for `createSseDecoder` and `createLineDecoder`. */
  framing?: SseDecoderOptions | undefined
  /** Secrets to redact from messages, for `recover`, which reads the error body. */
  secrets?: readonly string[]
}

/** How a codec recovers from a rejection before the first event: with a response, or with another call. */
export type Recovery<Call> = { kind: 'answer'; message: AssistantMessage } | { kind: 'repeat'; call: Call }

/** Encoder and decoder of one wire protocol. See `defineProvider`. */
export interface Codec<Call extends EncodedCall = EncodedCall> {
  /** Encodes a request. Any other error than a `ProviderError` becomes a `ProviderError` with code `other`. */
  encode(request: StreamRequest): Call | Promise<Call>
  /** Creates a decoder for the response to `call`. A decoder handles one response. */
  decoder(call: Call, context: DecoderContext): StreamDecoder
  /**
   * Body fields that the `body` setting cannot replace: instructions, tools, and storage options, for example `toolConfig.tools`. Names
   * match with or without underscores. Omit fields that all protocols share (`model`, `messages`, …).
   */
  guards?: readonly string[]
  /** Returns the media that a model accepts, for `requireMedia` and `resolveMedia`. By default, only the codec decides. */
  media?(model: ModelConfig): MediaRules
  /** File metadata, other than the name, that the protocol can send. All other metadata causes a warning. Default: no warnings. */
  says?: readonly FileWord[]
  /** Called once if the provider rejected `call` with `body` (text or parsed JSON). Return `undefined` to let the call fail. */
  recover?(body: unknown, call: Call, context: DecoderContext): Recovery<Call> | undefined
  /** Rewrites a call's error for this provider. Default: leaves errors unchanged. */
  explain?(error: ProviderError, request: StreamRequest): ProviderError
}

/** One model call on the wire. */
export interface Exchange {
  /** The provider's display name, such as `Anthropic`. */
  service: string
  call: EncodedCall
  /** Returns the key in `call`, or its secret parts, for redaction. Called only if there is an error message to redact. */
  secrets: () => readonly string[]
  decoder: StreamDecoder
  /** Owned by the caller. */
  signal: AbortSignal
  transport: TransportOptions
  /** Hint for browser clients if the provider rejects cross-origin requests. */
  browserHint?: string | undefined
  /** Called with the rate limits when the response headers arrive. */
  onRateLimits?: (limits: RateLimits) => void
  /** Called with the body of a rejection, as text or parsed JSON, before the call rejects. */
  onRefusal?: (body: unknown) => void
}
