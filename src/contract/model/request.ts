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

/** The tool that takes an answer where the service itself cannot be held to a form. */
export const answerToolName = 'respond_json'

const definitionFields = {
  name: aText,
  description: aText,
  /** JSON Schema of the arguments, an object at its root. */
  parameters: aJsonSchema,
}

/** A tool as the model sees it. */
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
 * One increment of a block. `contentIndex` is the block's position in the finished message. A `text` with `refusal` is of the refusal: it is shown as it comes, behind
 * all blocks, and is the `refusal` of the finished message, which has no block of it. `citation` adds to the citations of a text; `block` stands
 * in place of the whole block: a picture that gets finer, a tool of the service that has ended.
 */
export type StreamDelta = Infer<typeof streamDelta>
/** An increment of text, of reasoning or of arguments. */
export type TextDelta = Extract<StreamDelta, { delta: string }>

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

/** Exactly what a provider was given for one turn, and where each message came from. Source: docs/reference/tracing.md */
export interface AnnotatedRequest extends FieldsOf<typeof requestFields> {}
/** Nothing but a capture shows it: a log of another version may hold another one. */
export const annotatedRequest: ShapeOf<AnnotatedRequest> = object<AnnotatedRequest>(requestFields, [])
