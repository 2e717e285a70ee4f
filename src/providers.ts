/**
 * Registers providers by protocol, and exports the parts to write a provider of your own.
 *
 * `defineProvider` builds a `StreamProvider` from a codec: `encode` turns a request into the HTTP request, and a `StreamDecoder` turns
 * response bytes into operations on an `AssistantBuilder`. Connections, stalls, aborts, rejected media, redaction and error codes then work
 * as in every built-in provider. `streamProviderSuite` from `phi-core/testing` verifies it.
 *
 * @module
 */

export { withoutSecret } from './base/text/redact.ts'
export { secretsIn } from './base/text/secrets.ts'
export { retryDelayMs } from './base/timer.ts'
export type { ProviderState } from './contract/message/content.ts'
export type { ApiProtocol, KnownApi, ModelCapabilities, OpenAiCompat } from './contract/model/model-config.ts'
export type { CacheStrategy, StreamDelta, ToolDefinition } from './contract/model/request.ts'
export type { ResponseFormat } from './contract/model/request-settings.ts'
export type { Codec, DecoderContext, EncodedCall, Recovery } from './providers/kit/codec.ts'
export { createModel, modelConfig } from './providers/kit/create-model.ts'
export { AssistantBuilder } from './providers/kit/decode/assistant-builder.ts'
export { type StreamDecoder, StreamRefusal, tokenCount } from './providers/kit/decode/decoder.ts'
export type { BlockKey } from './providers/kit/decode/slots.ts'
export { defineProvider, type ProviderDefinition } from './providers/kit/define-provider.ts'
export { perObject, toJson } from './providers/kit/encode/json-pieces.ts'
export { classifyError, type Failure } from './providers/kit/errors/classify.ts'
export { legalIds } from './providers/kit/history/hash.ts'
export { HistoryMemory, type HistoryWriter } from './providers/kit/history/history-memory.ts'
export { type NormaliseTarget, normalise } from './providers/kit/history/normalise.ts'
export type { MediaRules } from './providers/kit/optional/media/media-rules.ts'
export type { ProviderOptions, TransportOptions } from './providers/kit/provider-options.ts'
export { headerCredential, joinUrl, mergeHeaders } from './providers/kit/transport/endpoint.ts'
export { sendStreaming } from './providers/kit/transport/send.ts'
export { defaultPatience, type Patience } from './providers/kit/transport/stall-clock.ts'
export { type ProviderLoader, ProviderRegistry, protocolOf } from './providers/registry.ts'
export { createAwsEventDecoder } from './stream/aws-event-stream.ts'
export { createLineDecoder } from './stream/lines.ts'
export { createSseDecoder } from './stream/sse.ts'
export type {
  EncodedRequest,
  ResponseFormatInput,
  StreamEvent,
  StreamProvider,
  StreamRequest,
  StreamStart,
  StreamWarning,
} from './types/model/provider.ts'
