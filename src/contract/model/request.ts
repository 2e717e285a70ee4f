import { citation, content } from '../message/content.ts'
import { blockProvenance } from '../message/identity.ts'
import { message } from '../message/message.ts'
import {
  aFlag,
  aJsonSchema,
  aNumber,
  aText,
  type FieldsOf,
  fixedListOf,
  type Infer,
  isTrue,
  object,
  optional,
  type ShapeOf,
  tagged,
  texts,
} from '../shape/shape.ts'
import { apiProtocol } from './model-config.ts'
import { recordedSettings, responseFormat, thinkingLevel } from './request-settings.ts'

export const cacheStrategy = tagged('type', {
  auto: {},
  disabled: {},
  manual: { cacheSystem: aFlag, cacheTools: aFlag, cacheMessages: aFlag },
})
/** Prompt caching. Source: docs/concepts/context.md */
export type CacheStrategy = Infer<typeof cacheStrategy>

/** Tool that returns the response if the provider cannot enforce a format. */
export const answerToolName = 'respond_json'

const definitionFields = {
  name: aText,
  description: aText,
  /** JSON Schema of the arguments, an object at its root. */
  parameters: aJsonSchema,
}

/** A tool definition as sent to the model. */
export interface ToolDefinition extends FieldsOf<typeof definitionFields> {}
const toolDefinition: ShapeOf<ToolDefinition> = object<ToolDefinition>(definitionFields)

export const streamDelta = tagged('type', {
  text: { contentIndex: aNumber, delta: aText, refusal: optional(isTrue) },
  thinking: { contentIndex: aNumber, delta: aText },
  toolCallDelta: { contentIndex: aNumber, toolCallId: aText, toolName: aText, delta: aText },
  citation: { contentIndex: aNumber, citation },
  block: { contentIndex: aNumber, block: content },
})
/**
 * An increment of a content block. `contentIndex` is the block's index in the finished message.
 *
 * - `text` with `refusal`: part of the refusal, shown after all blocks. The finished message contains the text as `refusal`, not as a
 *   block.
 * - `citation`: adds a citation to a text block.
 * - `block`: replaces the whole block, for example with a refined image or a finished provider-executed tool.
 */
export type StreamDelta = Infer<typeof streamDelta>
/** An increment of text, thinking or arguments. */
export type TextDelta = Extract<StreamDelta, { delta: string }>

const httpFields = { url: aText, headers: texts, body: aText }

/** HTTP request of a turn as sent, with secrets redacted. */
export interface CapturedHttp extends FieldsOf<typeof httpFields> {}
const capturedHttp: ShapeOf<CapturedHttp> = object<CapturedHttp>(httpFields)

const requestFields = {
  systemPrompt: aText,
  messages: fixedListOf(message),
  /** One entry per message. `unknown` if a custom `convertToLlm` created the messages. */
  provenance: fixedListOf(blockProvenance),
  tools: fixedListOf(toolDefinition),
  modelId: aText,
  provider: aText,
  api: apiProtocol,
  thinkingLevel,
  maxTokens: optional(aNumber),
  temperature: optional(aNumber),
  /** The request's other settings, without headers and extra body fields. */
  settings: optional(recordedSettings),
  /** Default: text. */
  responseFormat: optional(responseFormat),
  /** Present if `captureTurnRequests` requests it. */
  http: optional(capturedHttp),
}

/** Provider request of one turn, with each message's origin. Source: docs/reference/tracing.md */
export interface AnnotatedRequest extends FieldsOf<typeof requestFields> {}
/** Accepts unknown shapes in logs from newer versions, because requests are only displayed. */
export const annotatedRequest: ShapeOf<AnnotatedRequest> = object<AnnotatedRequest>(requestFields, [])
