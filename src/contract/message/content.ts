import { apiProtocol } from '../model/model-config.ts'
import { aJsonObject, aText, type FieldsOf, object, oneOf, optional, type ShapeOf, tagged } from '../shape/shape.ts'

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
const providerState: ShapeOf<ProviderState> = object<ProviderState>(providerStateFields)

const textFields = { type: oneOf('text'), text: aText, providerState: optional(providerState) }

/** Plain text, from a user, a model or a tool. */
export interface TextContent extends FieldsOf<typeof textFields> {}

/** A log may hold such data from before they were refused: it stays readable. */
const imageData: ShapeOf<string> = {
  ...aText,
  inside: (value, path, reading) =>
    reading === 'given' && typeof value === 'string' && /^data:/i.test(value)
      ? `${path} begins with "data:". Give the base64 alone, which stands behind the comma, and the type as mimeType.`
      : undefined,
}

const imageFields = { type: oneOf('image'), data: imageData, mimeType: aText }

/** An inline image: `data` is base64 without a `data:` prefix. */
export interface ImageContent extends FieldsOf<typeof imageFields> {}

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
  providerState: optional(providerState),
}

/**
 * A model's request to run a tool. `arguments` is what the model wrote, parsed; where it was not a JSON object, or
 * meant something else than it says (a key twice, `1e400`, `-0`, half of a surrogate pair, more than 200 levels), `arguments` is `{}` and `invalidArguments` holds the raw text, so the call is answered with an error, never executed.
 */
export interface ToolCallContent extends FieldsOf<typeof toolCallFields> {}

/** One block of a message. Source: docs/concepts/messages.md */
export type Content = TextContent | ImageContent | ThinkingContent | ToolCallContent
/** In a log, blocks of another version pass. */
export const content: ShapeOf<Content> = tagged(
  'type',
  {
    text: object<TextContent>(textFields),
    image: object<ImageContent>(imageFields),
    thinking: object<ThinkingContent>(thinkingFields),
    toolCall: object<ToolCallContent>(toolCallFields),
  },
  'logged',
)
