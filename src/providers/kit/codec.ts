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

/** An encoded request: what is sent, and what is needed to read its response and errors. */
export interface EncodedCall {
  url: string
  /** Header names in lower case. */
  headers: Record<string, string>
  /** The body, with placeholders for `media`. */
  body: string
  /** Long data that `defineProvider` inserts into the body when it is sent. */
  media?: DetachedMedia | undefined
  /** Warnings about dropped or changed input. */
  warnings: readonly string[]
  /** Name of the tool whose arguments are the response; for the `AssistantBuilder`. */
  answerTool?: string | undefined
  /** Secrets that no message may contain. Default: the credential of the request. */
  secrets?: readonly string[]
  /** Probable mistake of the caller; appended to the error if the provider rejects the request. */
  hint?: RefusalHint | undefined
  /** Adds headers that depend on the body, such as a signature. Runs last, because a request may add body fields. */
  sign?: ((call: Pick<EncodedCall, 'url' | 'headers' | 'body'>) => Record<string, string> | Promise<Record<string, string>>) | undefined
  /** This backend responds with 400 and no body if the prompt is too long. */
  emptyBodyIsOverflow?: boolean
}

/** Context of a new decoder. */
export interface DecoderContext {
  request: StreamRequest
  /** Display name of the provider. */
  service: string
  emit: (event: StreamEvent) => void
  /** Maximum length of an event, for `createSseDecoder` and `createLineDecoder`. */
  framing?: SseDecoderOptions | undefined
  /** Secrets that no message may contain; for `recover`, which reads the error body. */
  secrets?: readonly string[]
}

/** What a codec makes of a rejection before the first event: a response, or another call to send instead. */
export type Recovery<Call> = { kind: 'answer'; message: AssistantMessage } | { kind: 'repeat'; call: Call }

/** Both directions of one wire protocol. See `defineProvider`. */
export interface Codec<Call extends EncodedCall = EncodedCall> {
  /** Encodes a request. An error that is not a `ProviderError` becomes one with code `other`. */
  encode(request: StreamRequest): Call | Promise<Call>
  /** Creates the decoder of the response to `call`; one per call. */
  decoder(call: Call, context: DecoderContext): StreamDecoder
  /**
   * Body fields that `body` of the request settings cannot replace, such as `toolConfig.tools`: instructions, tools, and what the provider
   * stores. Names with underscores are equal. Fields of all protocols (`model`, `messages`, …) need not be listed.
   */
  guards?: readonly string[]
  /** Media that a model accepts, for `requireMedia` and `resolveMedia`. Default: the codec alone decides. */
  media?(model: ModelConfig): MediaRules
  /** File metadata other than the name that the protocol can send; other metadata causes a warning. Default: no warnings. */
  says?: readonly FileWord[]
  /** Called once if the provider rejected `call` with `body` (text or parsed JSON). `undefined` lets the call fail. */
  recover?(body: unknown, call: Call, context: DecoderContext): Recovery<Call> | undefined
  /** Rewords the error of a call for this provider. Default: unchanged. */
  explain?(error: ProviderError, request: StreamRequest): ProviderError
}

/** One model call on the wire. */
export interface Exchange {
  /** Display name of the provider, such as `Anthropic`. */
  service: string
  call: EncodedCall
  /** Returns the key inside `call`, or its secret parts, so that messages omit them. Called if a message exists. */
  secrets: () => readonly string[]
  decoder: StreamDecoder
  /** Owned by the caller. */
  signal: AbortSignal
  transport: TransportOptions
  /** Advice for browser users if the provider rejects cross-origin calls. */
  browserHint?: string | undefined
  /** Receives the rate limits when the response headers arrive. */
  onRateLimits?: (limits: RateLimits) => void
  /** Receives the body of a rejection, as text or parsed JSON, before the call rejects. */
  onRefusal?: (body: unknown) => void
}
