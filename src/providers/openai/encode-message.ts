import { type JsonObject, type JsonValue, jsonObjectIn } from '../../contract/json.ts'
import { type Content, type FileContent, type ImageContent, isMedia, type ToolCallContent } from '../../contract/message/content.ts'
import { addressOf, baseType, nameByType, sourceOf } from '../../contract/message/media.ts'
import { type AssistantMessage, type ToolResultMessage, textOf, type UserMessage } from '../../contract/message/message.ts'
import { joinedAll, perObject, toJson } from '../kit/encode/json-pieces.ts'
import { legalName } from '../kit/history/hash.ts'
import { mediaJson, seeAttached } from '../kit/optional/media/media-json.ts'
import { reasoningFields, type ThinkingRules, writtenContent } from './thinking-fields.ts'

/** Requirements of a backend for messages. */
export interface MessageRules {
  /** Whether tool messages contain the tool's `name`. */
  namesToolResults: boolean
  /** Whether refusals are sent back in the `refusal` field. */
  refusals: boolean
  /** Whether documents are sent as URLs (data URLs for bytes) in a separate part type. */
  documentsByUrl: boolean
  /** Model whose parsed files are sent back. */
  parsedFilesOf: string | undefined
  /** Whether an assistant message is required between results and a user message. */
  answersBeforeUser: boolean
  /** Where assistant messages contain reasoning. */
  thinking: ThinkingRules
}

/** A tool result: a text message, and its images as parts for a user message. */
export interface EncodedResult {
  json: string
  /** Comma-separated parts. Empty without images. */
  imageParts: string
}

/** Encodes normalized messages. Caches the result as long as the message lives. */
export interface MessageEncoder {
  readonly answersBeforeUser: boolean
  user(message: UserMessage): string
  /** Returns the content of a user message as comma-separated parts. */
  userParts(message: UserMessage): string
  assistant(message: AssistantMessage): string
  toolResult(message: ToolResultMessage): EncodedResult
}

/** Creates an encoder for `rules`. Source: docs/providers/openai.md */
export function messageEncoder(rules: MessageRules): MessageEncoder {
  const known = perObject((message: AssistantMessage) => encodeAssistant(message, rules))
  const part = rules.documentsByUrl ? partWithDocument : encodePart
  return {
    answersBeforeUser: rules.answersBeforeUser,
    user: perObject((message: UserMessage) => encodeUser(message, part)),
    userParts: perObject((message: UserMessage) => joinedAll(message.content.map(part))),
    // Do not cache a message with spoken output: it is sent as an id that expires.
    assistant: (message) => (soundOf(message.content)?.id === undefined ? known(message) : encodeAssistant(message, rules)),
    toolResult: perObject((message: ToolResultMessage) => encodeResult(message, rules, part)),
  }
}

/** Returns a user message with content parts. */
export function userOfParts(parts: string): string {
  return `{"role":"user","content":[${parts}]}`
}

type EncodePart = (block: Content) => string

function encodeUser(message: UserMessage, part: EncodePart): string {
  const [first, ...more] = message.content
  if (first?.type === 'text' && more.length === 0) return toJson({ role: 'user', content: first.text })
  return userOfParts(joinedAll(message.content.map(part)))
}

function encodePart(block: Content): string {
  if (isMedia(block)) return mediaJson(block, encodeMedia)
  return toJson({ type: 'text', text: block.type === 'text' ? block.text : '' })
}

/** Encodes a document in Mistral's form: `DocumentURLChunk` in @mistralai/mistralai 2.7.0. */
function partWithDocument(block: Content): string {
  return block.type === 'file' && baseType(block.mimeType) === 'application/pdf' ? mediaJson(block, encodeDocument) : encodePart(block)
}

function encodeDocument(block: ImageContent | FileContent): string {
  const name = block.type === 'file' ? block.name : undefined
  return toJson({ type: 'document_url', document_url: addressOf(block), ...(name !== undefined && { document_name: name }) })
}

function encodeMedia(block: ImageContent | FileContent): string {
  return block.type === 'file' ? encodeFile(block) : encodeImage(block)
}

function encodeImage(image: ImageContent): string {
  return toJson({ type: 'image_url', image_url: { url: addressOf(image) } })
}

/** Audio formats whose name in the protocol differs from the media subtype. */
const soundFormats: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/x-m4a': 'm4a',
}

/** Encodes a file. The protocol requires a name. Audio and video use separate part types. */
function encodeFile(file: FileContent): string {
  const source = sourceOf(file)
  if (source.type === 'fileId') return toJson({ type: 'file', file: { file_id: source.fileId } })
  const type = baseType(file.mimeType)
  if (type.startsWith('audio/') && source.type === 'data')
    return toJson({ type: 'input_audio', input_audio: { data: source.data, format: soundFormats[type] ?? type.slice('audio/'.length) } })
  if (type.startsWith('video/')) return toJson({ type: 'video_url', video_url: { url: addressOf(file) } })
  return toJson({ type: 'file', file: { filename: file.name ?? nameByType('document', file.mimeType), file_data: addressOf(file) } })
}

function encodeAssistant(message: AssistantMessage, rules: MessageRules): string {
  const { content, refusal } = message
  if (rules.refusals && refusal !== undefined && content.every(({ type }) => type === 'text') && textOf(content) === refusal)
    return toJson({ role: 'assistant', content: [{ type: 'refusal', refusal }] })
  const calls = content.filter((block) => block.type === 'toolCall')
  const sound = soundOf(content)
  const written = writtenContent(content, rules.thinking)
  const text = sound === undefined || sound.id !== undefined ? written : withTranscript(written, sound.transcript)
  return toJson({
    role: 'assistant',
    // Null content is valid only with tool calls or audio.
    content: text === '' && (calls.length > 0 || sound?.id !== undefined) ? null : text,
    ...(sound?.id !== undefined && { audio: { id: sound.id } }),
    ...reasoningFields(content, rules.thinking),
    ...(calls.length > 0 ? { tool_calls: calls.map(encodeCall) } : {}),
    ...annotationsOf(message, rules),
  })
}

function withTranscript(written: string | JsonObject[], transcript: string): string | JsonObject[] {
  if (typeof written !== 'string') return [...written, { type: 'text', text: transcript }]
  return [written, transcript].filter((each) => each !== '').join('\n')
}

function annotationsOf({ providerState }: AssistantMessage, { parsedFilesOf }: MessageRules): { annotations?: JsonValue } {
  const isOwn = providerState?.api === 'openAiCompletions' && providerState.model === parsedFilesOf
  if (!isOwn) return {}
  const { parsedFiles, annotations } = providerState.payload
  const kept = [parsedFiles, annotations].flatMap((list) => (Array.isArray(list) ? list : []))
  return kept.length === 0 ? {} : { annotations: kept }
}

/** Returns a response's spoken output: its id until the id expires, then its transcript. */
function soundOf(content: readonly Content[]): { id?: string; transcript: string } | undefined {
  const sound = content.find((block) => block.type === 'file' && block.providerState?.payload.transcript !== undefined)
  const { audioId, expiresAt, transcript } = sound?.providerState?.payload ?? {}
  if (typeof transcript !== 'string') return undefined
  const isThere = typeof audioId === 'string' && (typeof expiresAt !== 'number' || expiresAt * 1000 > Date.now())
  return isThere ? { id: audioId, transcript } : { transcript }
}

function encodeCall(call: ToolCallContent): JsonValue {
  return {
    ...jsonObjectIn(call.providerState?.payload.fields),
    id: call.id,
    type: 'function',
    function: { name: legalName(call.name), arguments: toJson(call.arguments) },
  }
}

function encodeResult(message: ToolResultMessage, rules: MessageRules, part: EncodePart): EncodedResult {
  const media = message.content.filter(isMedia)
  const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const json = toJson({
    role: 'tool',
    tool_call_id: message.toolCallId,
    ...(rules.namesToolResults ? { name: legalName(message.toolName) } : {}),
    content: text === '' ? seeAttached(message.content) : text,
  })
  return { json, imageParts: joinedAll(media.map(part)) }
}
