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
  /** Model id the block came from. */
  model: aText,
  /** Hash of the request prefix the block is bound to; absent where the service binds nothing. */
  prefixHash: optional(aText),
  payload: aJsonObject,
}

/**
 * What a service attached to a block and wants back byte for byte: signatures, redacted thinking, encrypted reasoning.
 *
 * **Contract**
 * - Opaque: only the codec of `api` writes or reads `payload`.
 * - It is sent back to the same `api` and `model` while the prefix it is bound to still stands, and to nobody else.
 *
 * Source: docs/concepts/messages.md
 */
export interface ProviderState extends FieldsOf<typeof providerStateFields> {}
export const providerState: ShapeOf<ProviderState> = object<ProviderState>(providerStateFields)

const textRangeFields = { start: aNumber, end: aNumber }

/** A part of a text: UTF-16 units from 0, `end` exclusive. */
export interface TextRange extends FieldsOf<typeof textRangeFields> {}

const documentPlaceFields = {
  /** Which of the documents of the request, from 0. */
  index: aNumber,
  unit: oneOf('page', 'char', 'block'),
  /** Pages count from 1, the others from 0. */
  start: aNumber,
  /** Exclusive. */
  end: aNumber,
  /** The message that holds the document; absent where that is not known. */
  messageId: optional(aText),
  /** Which of the files of that message it is, from 0. */
  fileIndex: optional(aNumber),
}

/** A part of a document that was sent. */
export interface DocumentPlace extends FieldsOf<typeof documentPlaceFields> {}

const citationFields = {
  /** Where the source is to be found. */
  url: optional(aText),
  title: optional(aText),
  /** What the source says, as the service quotes it. */
  citedText: optional(aText),
  /** What of the block's text rests on it. Absent: all of it. */
  range: optional(object<TextRange>(textRangeFields)),
  /** Where in a document of the request it stands. */
  document: optional(object<DocumentPlace>(documentPlaceFields)),
  /** A file that the service keeps. */
  fileId: optional(aText),
}

/** What a text rests on, the same for every service. Their own form is in the block's `providerState`. Source: docs/concepts/messages.md */
export interface Citation extends FieldsOf<typeof citationFields> {}
export const citation: ShapeOf<Citation> = object<Citation>(citationFields)

const textFields = {
  type: oneOf('text'),
  text: aText,
  /** What it rests on, in the order in which the service said so. */
  citations: optional(listOf(citation)),
  providerState: optional(providerState),
}

/** Plain text, from a user, a model or a tool. */
export interface TextContent extends FieldsOf<typeof textFields> {}

const imageFields = { type: oneOf('image'), mimeType: aText, ...sourceFields, providerState: optional(providerState) }

/** A picture: exactly one of `data` (base64 without a `data:` prefix), `url` and `fileId`. */
export interface ImageContent extends FieldsOf<typeof imageFields> {}

export const fileCitations = either(aFlag, oneOf('ifPossible'))
/**
 * Whether a model is to say what of a file an answer rests on. `ifPossible`: where the service can, and in the form that is asked for; elsewhere nothing is said of it.
 * `true`: a warning tells where it cannot.
 */
export type FileCitations = Infer<typeof fileCitations>

const fileFields = {
  type: oneOf('file'),
  mimeType: aText,
  ...sourceFields,
  /** What it is called, such as `report.pdf`. */
  name: optional(aText),
  /** What a model should know of it that is no part of it. */
  context: optional(aText),
  /** Whether the model is to say what of it an answer rests on. */
  citations: optional(fileCitations),
  providerState: optional(providerState),
}

/** A document, a sound, a video or data; `mimeType` says which. Exactly one of `data` (base64), `url` and `fileId` is there. */
export interface FileContent extends FieldsOf<typeof fileFields> {}

const thinkingFields = {
  type: oneOf('thinking'),
  thinking: aText,
  /** Integrity token of the service; echoed unmodified or not at all. */
  signature: optional(aText),
  providerState: optional(providerState),
}

/**
 * Reasoning a model showed (or withheld: `thinking` is then empty and the state lies in `signature` or `providerState`).
 * Source: docs/concepts/messages.md
 */
export interface ThinkingContent extends FieldsOf<typeof thinkingFields> {}

const toolCallFields = {
  type: oneOf('toolCall'),
  id: aText,
  name: aText,
  arguments: aJsonObject,
  /** The raw argument text, when it cannot be taken for what it says. */
  invalidArguments: optional(aText),
  /** The end of the arguments never came: they are not repaired. */
  isCut: optional(isTrue),
  /** The raw argument text, when `arguments` is its only reading, or what the `repairToolCall` hook made of it. */
  repairedFrom: optional(aText),
  providerState: optional(providerState),
}

/**
 * A model's request to run a tool. `arguments` is what the model wrote, parsed; where it was not a JSON object, or
 * meant something else than it says (a key twice, `1e400`, `-0`, half of a surrogate pair, more than 200 levels), `arguments` is `{}` and `invalidArguments` holds the raw text, so the call is answered with an error, never executed.
 */
export interface ToolCallContent extends FieldsOf<typeof toolCallFields> {}

const serviceToolErrorFields = { code: aText, message: optional(aText) }

/** Why a tool of a service failed. */
export interface ServiceToolError extends FieldsOf<typeof serviceToolErrorFields> {}
export const serviceToolError: ShapeOf<ServiceToolError> = object<ServiceToolError>(serviceToolErrorFields)

const serviceToolFields = {
  type: oneOf('serviceTool'),
  id: aText,
  /** As the service calls it: `web_search`. */
  name: aText,
  input: optional(json),
  status: oneOf('running', 'done', 'failed'),
  /** What a person can be shown of what it gave, at most 64 KiB. */
  output: optional(json),
  error: optional(serviceToolError),
  /** The service waits until a person has said whether it may run. The answer is a tool result with this `id`. */
  needsApproval: optional(isTrue),
  /** The blocks as the service sent them; they go back to it as they are. */
  providerState: optional(providerState),
}

/**
 * A call that the service ran by itself, such as a search. Nothing of ours runs it. Another service is told what was found, as text.
 * Source: docs/concepts/messages.md
 */
export interface ServiceToolContent extends FieldsOf<typeof serviceToolFields> {}

const opaqueFields = {
  type: oneOf('opaque'),
  /** As the service calls it. */
  kind: aText,
  providerState: optional(providerState),
}

/** What a service sent and this version does not know. It is kept, and goes back to the same service. */
export interface OpaqueContent extends FieldsOf<typeof opaqueFields> {}

/** A picture or a file. */
export type MediaContent = ImageContent | FileContent

/** Whether a block is a picture or a file. */
export function isMedia<Block extends { type: string }>(block: Block): block is Extract<Block, { type: MediaContent['type'] }> {
  return block.type === 'image' || block.type === 'file'
}

/** One block of a message. Source: docs/concepts/messages.md */
export type Content = TextContent | ImageContent | FileContent | ThinkingContent | ToolCallContent | ServiceToolContent | OpaqueContent
/** In a log, blocks of another version pass. */
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
