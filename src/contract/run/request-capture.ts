import { message } from '../message/message.ts'
import { blockProvenance } from '../message/provenance.ts'
import { apiProtocol } from '../model/model-config.ts'
import { toolDefinition } from '../model/request.ts'
import { recordedSettings, responseFormat, thinkingLevel } from '../model/request-settings.ts'
import { aNumber, aText, type FieldsOf, fixedListOf, object, optional, type ShapeOf, texts } from '../shape/shape.ts'

const httpFields = { url: aText, headers: texts, body: aText }

/** The HTTP request of a turn as it goes out, every secret replaced. */
export interface CapturedHttp extends FieldsOf<typeof httpFields> {}
const capturedHttp: ShapeOf<CapturedHttp> = object<CapturedHttp>(httpFields)

const requestFields = {
  systemPrompt: aText,
  messages: fixedListOf(message),
  /** As long as `messages`; `unknown` where a custom `convertToLlm` made messages of its own. */
  provenance: fixedListOf(blockProvenance),
  tools: fixedListOf(toolDefinition),
  modelId: aText,
  provider: aText,
  api: apiProtocol,
  thinkingLevel,
  maxTokens: optional(aNumber),
  temperature: optional(aNumber),
  /** What else was asked of the request, but for headers and extra fields of the body. */
  settings: optional(recordedSettings),
  /** Default: text. */
  responseFormat: optional(responseFormat),
  /** Only where `captureTurnRequests` asks for it. */
  http: optional(capturedHttp),
}

/** Exactly what a provider was given for one turn, and where each message came from. Source: docs/concepts/request-capture.md */
export interface AnnotatedRequest extends FieldsOf<typeof requestFields> {}
/** Nothing but a capture shows it: a log of another version may hold another one. */
export const annotatedRequest: ShapeOf<AnnotatedRequest> = object<AnnotatedRequest>(requestFields, [])
