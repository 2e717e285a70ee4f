import type { ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { RateLimits } from '../../contract/model/usage.ts'
import type { SseDecoderOptions } from '../../stream/sse.ts'
import type { StreamEvent, StreamRequest } from '../../types/model/provider.ts'
import type { StreamDecoder } from './decode/decoder.ts'
import type { RefusalHint } from './errors/classify.ts'
import type { MediaBeside } from './optional/media/media-json.ts'
import type { FileWord, MediaRules } from './optional/media/media-rules.ts'
import type { TransportOptions } from './provider-options.ts'

/** A request in the form of its protocol: what is sent, and what its answer and its errors must be read with. */
export interface EncodedCall {
  url: string
  /** Names in lower case. */
  headers: Record<string, string>
  /** Names stand in it for what is in `media`. */
  body: string
  /** Long data that are put into the body when it is sent. `defineProvider` sees to it. */
  media?: MediaBeside | undefined
  /** What had to be left out to be accepted. */
  warnings: readonly string[]
  /** The tool whose call is the answer; for the `AssistantBuilder`. */
  answerTool?: string | undefined
  /** What must appear in no message. Default: the credential of the request. */
  secrets?: readonly string[]
  /** What the caller has probably got wrong, where the service refuses; ends the error. */
  hint?: RefusalHint | undefined
  /** The headers of this call where they depend on its body, such as a signature. Made last: a request may add fields to the body. */
  sign?: ((call: Pick<EncodedCall, 'url' | 'headers' | 'body'>) => Record<string, string> | Promise<Record<string, string>>) | undefined
  /** This backend answers 400 without a body when the prompt is too long. */
  emptyBodyIsOverflow?: boolean
}

/** What a decoder is made for. */
export interface DecoderContext {
  request: StreamRequest
  /** The service, for people. */
  service: string
  emit: (event: StreamEvent) => void
  /** How long an event may be: for `createSseDecoder` and `createLineDecoder`. */
  framing?: SseDecoderOptions | undefined
  /** What must appear in no message, for `recover`: it reads what the service said. */
  secrets?: readonly string[]
}

/** What a codec makes of a refusal that came before anything was emitted: the answer, or another call to make instead. */
export type Recovery<Call> = { kind: 'answer'; message: AssistantMessage } | { kind: 'repeat'; call: Call }

/** Both directions of one wire protocol. See `defineProvider`. */
export interface Codec<Call extends EncodedCall = EncodedCall> {
  /** The request as it is sent. What it throws, but for `ProviderError`, becomes one with code `other`. */
  encode(request: StreamRequest): Call | Promise<Call>
  /** Reads the answer to `call`; one decoder per call. */
  decoder(call: Call, context: DecoderContext): StreamDecoder
  /**
   * Fields of the body that `body` of the request settings cannot replace, such as `toolConfig.tools`: what the model is told first, what it may call, what the
   * service keeps. Names with underscores are the same. Those of all protocols (`model`, `messages`, …) need not be named.
   */
  guards?: readonly string[]
  /** What media a model takes, for `requireMedia` and `resolveMedia`. Without it, the codec alone decides what is left out. */
  media?(model: ModelConfig): MediaRules
  /** What the protocol has a place for beside the name of a file; anything else that is said of one is told as left out. Absent: nothing is told. */
  says?: readonly FileWord[]
  /** Asked once when the service refused `call` with `body` (text, or parsed JSON); `undefined` lets the call fail. */
  recover?(body: unknown, call: Call, context: DecoderContext): Recovery<Call> | undefined
  /** The error of a call in the words of this service. Default: as it is. */
  explain?(error: ProviderError, request: StreamRequest): ProviderError
}

/** One model call on the wire. */
export interface Exchange {
  /** The service, for people: `Anthropic`. */
  service: string
  call: EncodedCall
  /** The key inside `call`, or its secret parts, to keep them out of messages: looked for when there is one. */
  secrets: () => readonly string[]
  decoder: StreamDecoder
  /** Owned by the caller. */
  signal: AbortSignal
  transport: TransportOptions
  /** What a browser user can do when the service refuses cross-origin calls. */
  browserHint?: string | undefined
  /** Told what the service said of its rate limits, once its headers are there. */
  onRateLimits?: (limits: RateLimits) => void
  /** Told what the service said when it refused, as text or as parsed JSON, before the call rejects. */
  onRefusal?: (body: unknown) => void
}
