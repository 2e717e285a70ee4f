import { apiProtocol } from '../model/model-config.ts'
import { foreignBlock } from '../shape/foreign-names.ts'
import {
  aFlag,
  aJsonObject,
  aNumber,
  aText,
  either,
  type FieldsOf,
  type Infer,
  isTrue,
  json,
  listOf,
  object,
  oneOf,
  optional,
  type ShapeOf,
  tagged,
  withInside,
  withInstead,
} from '../shape/shape.ts'
import { sourceFault, sourceFields } from './media.ts'

const providerStateFields = {
  api: apiProtocol,
  /** Model id that produced the block. */
  model: aText,
  /** Hash of the request prefix that the block is bound to, if any. */
  prefixHash: optional(aText),
  payload: aJsonObject,
}

/**
 * State that a provider attaches to a block and requires back unchanged: signatures, redacted thinking, encrypted reasoning.
 *
 * **Contract**
 * - Opaque: only the codec of `api` reads or writes `payload`.
 * - Sent back only to the same `api` and `model`, and only while the request prefix is unchanged.
 *
 * Source: docs/concepts/messages.md
 */
export interface ProviderState extends FieldsOf<typeof providerStateFields> {}
export const providerState: ShapeOf<ProviderState> = object<ProviderState>(providerStateFields)

const textRangeFields = { start: aNumber, end: aNumber }

/** Range in a text, in zero-based UTF-16 units. `end` is exclusive. */
export interface TextRange extends FieldsOf<typeof textRangeFields> {}

const documentPlaceFields = {
  /** Index of the document in the request, from 0. */
  index: aNumber,
  unit: oneOf('page', 'char', 'block'),
  /** Range in the document. Pages start at 1, other units at 0. */
  start: aNumber,
  /** Exclusive. */
  end: aNumber,
  /** Id of the message that contains the document, if known. */
  messageId: optional(aText),
  /** Index of the file in that message, from 0. */
  fileIndex: optional(aNumber),
}

/** Location in a document in the request. */
export interface DocumentPlace extends FieldsOf<typeof documentPlaceFields> {}

const citationFields = {
  /** The source's URL. */
  url: optional(aText),
  title: optional(aText),
  /** Source text that the provider quotes. */
  citedText: optional(aText),
  /** Range of the block's text that the citation supports. Absent for the whole text. */
  range: optional(object<TextRange>(textRangeFields)),
  /** Location in a document in the request. */
  document: optional(object<DocumentPlace>(documentPlaceFields)),
  /** File stored by the provider. */
  fileId: optional(aText),
}

/**
 * Source citation in a provider-independent form. The block's `providerState` contains the original form. Source: docs/concepts/messages.md
 */
export interface Citation extends FieldsOf<typeof citationFields> {}
export const citation: ShapeOf<Citation> = object<Citation>(citationFields)

const textFields = {
  type: oneOf('text'),
  text: aText,
  /** Citations in provider order. */
  citations: optional(listOf(citation)),
  providerState: optional(providerState),
}

/** Plain text from a user, a model or a tool. */
export interface TextContent extends FieldsOf<typeof textFields> {}

const imageFields = { type: oneOf('image'), mimeType: aText, ...sourceFields, providerState: optional(providerState) }

/** An image: exactly one of `data` (base64 without a `data:` prefix), `url` and `fileId`. */
export interface ImageContent extends FieldsOf<typeof imageFields> {}

export const fileCitations = either(aFlag, oneOf('ifPossible'))
/**
 * Whether a model must cite this file. `ifPossible` ignores a lack of support in the provider or response format. `true` logs a warning.
 */
export type FileCitations = Infer<typeof fileCitations>

const fileFields = {
  type: oneOf('file'),
  mimeType: aText,
  ...sourceFields,
  /** File name, such as `report.pdf`. */
  name: optional(aText),
  /** Background information about the file for the model, besides its content. */
  context: optional(aText),
  /** Whether the model cites this file. */
  citations: optional(fileCitations),
  providerState: optional(providerState),
}

/** A document, audio, video or data file, by `mimeType`. Exactly one of `data` (base64), `url` and `fileId`. */
export interface FileContent extends FieldsOf<typeof fileFields> {}

const thinkingFields = {
  type: oneOf('thinking'),
  thinking: aText,
  /** The provider's integrity token, sent back unmodified or omitted. */
  signature: optional(aText),
  providerState: optional(providerState),
}

/**
 * A model's reasoning. If the provider withholds the text, `thinking` is empty and `signature` or `providerState` contains the state.
 * Source: docs/concepts/messages.md
 */
export interface ThinkingContent extends FieldsOf<typeof thinkingFields> {}

const toolCallFields = {
  type: oneOf('toolCall'),
  id: aText,
  name: aText,
  arguments: aJsonObject,
  /** Raw argument text, if parsing failed or was ambiguous. */
  invalidArguments: optional(aText),
  /** Whether the arguments were truncated. Truncated arguments are not repaired. */
  isCut: optional(isTrue),
  /**
   * Raw argument text before the repair. `arguments` contains its only valid interpretation, or the output of the `repairToolCall` hook.
   */
  repairedFrom: optional(aText),
  providerState: optional(providerState),
}

/**
 * A tool call from a model. `arguments` contains the parsed arguments.
 *
 * - If the text is not a JSON object, or is ambiguous (duplicate key, `1e400`, `-0`, lone surrogate, more than 200 levels), `arguments` is
 *   `{}` and `invalidArguments` contains the raw text. The call gets an error result and is never executed.
 */
export interface ToolCallContent extends FieldsOf<typeof toolCallFields> {}

const serviceToolErrorFields = { code: aText, message: optional(aText) }

/** Why a provider-executed tool failed. */
export interface ServiceToolError extends FieldsOf<typeof serviceToolErrorFields> {}
export const serviceToolError: ShapeOf<ServiceToolError> = object<ServiceToolError>(serviceToolErrorFields)

const serviceToolFields = {
  type: oneOf('serviceTool'),
  id: aText,
  /** The provider's name for the tool, such as `web_search`. */
  name: aText,
  input: optional(json),
  status: oneOf('running', 'done', 'failed'),
  /** Output to show to users, at most 64 KiB. */
  output: optional(json),
  error: optional(serviceToolError),
  /** Whether the provider waits for an approval. The tool result with this `id` contains the decision. */
  needsApproval: optional(isTrue),
  /** Original blocks, sent back to the provider unchanged. */
  providerState: optional(providerState),
}

/**
 * A provider-executed tool call, such as a web search. This package executes nothing. Other providers receive the outcome as text.
 * Source: docs/concepts/messages.md
 */
export interface ServiceToolContent extends FieldsOf<typeof serviceToolFields> {}

const opaqueFields = {
  type: oneOf('opaque'),
  /** The provider's name for the block type. */
  kind: aText,
  providerState: optional(providerState),
}

/** A block of an unknown type, preserved and sent back to the same provider. */
export interface OpaqueContent extends FieldsOf<typeof opaqueFields> {}

/** An image block or a file block. */
export type MediaContent = ImageContent | FileContent

/** Returns whether a block is an image or a file. */
export function isMedia<Block extends { type: string }>(block: Block): block is Extract<Block, { type: MediaContent['type'] }> {
  return block.type === 'image' || block.type === 'file'
}

/** One block of a message. Source: docs/concepts/messages.md */
export type Content = TextContent | ImageContent | FileContent | ThinkingContent | ToolCallContent | ServiceToolContent | OpaqueContent
/** Logs may contain unknown block types from newer versions. */
export const content: ShapeOf<Content> = withInstead(
  tagged(
    'type',
    {
      text: object<TextContent>(textFields),
      image: withInside(object<ImageContent>(imageFields), sourceFault),
      file: withInside(object<FileContent>(fileFields), sourceFault),
      thinking: object<ThinkingContent>(thinkingFields),
      toolCall: object<ToolCallContent>(toolCallFields),
      serviceTool: object<ServiceToolContent>(serviceToolFields),
      opaque: object<OpaqueContent>(opaqueFields),
    },
    'logged',
  ),
  foreignBlock,
)
