import type { JsonObject } from '../../contract/json.ts'
import { type Content, type FileContent, type ImageContent, isMedia } from '../../contract/message/content.ts'
import { addressOf, nameByType, sourceOf } from '../../contract/message/media.ts'
import { type AssistantMessage, type ToolResultMessage, textOf, type UserMessage } from '../../contract/message/message.ts'
import { joinedAll, perObject, toJson } from '../kit/encode/json-pieces.ts'
import { mediaJson } from '../kit/optional/media/media-json.ts'
import {
  answerWithoutContainers,
  bareAnswer,
  type EncodedAnswer,
  type ExpectedResults,
  expectedResults,
  wholeAnswer,
} from './encode-answer.ts'

/**
 * Which parts of earlier responses to send: all parts, all except reasoning that the provider may not decrypt, or all except container
 * output.
 */
export type EchoMode = 'whole' | 'bare' | 'withoutContainers'

/** A tool result item, and its media as parts for a user message if results accept only text. */
export interface EncodedResult {
  json: string
  /** Comma-separated parts. Empty without media. */
  mediaParts: string
}

/** Encodes normalized messages to comma-separated input items. Caches the result as long as the message lives. */
export interface MessageEncoder {
  user(message: UserMessage): string
  answer(message: AssistantMessage, mode: EchoMode): EncodedAnswer
  expected(message: AssistantMessage): ExpectedResults
  result(message: ToolResultMessage): EncodedResult
}

/** Creates an encoder. `mediaInResults`: results may contain media. Source: docs/providers/openai-responses.md */
export function messageEncoder(mediaInResults: boolean): MessageEncoder {
  const answers = { whole: perObject(wholeAnswer), bare: perObject(bareAnswer), withoutContainers: perObject(answerWithoutContainers) }
  return {
    user: perObject((message: UserMessage) => userOfParts(joinedAll(message.content.map(partJson)))),
    answer: (message, mode) => answers[mode](message),
    expected: perObject(expectedResults),
    result: perObject((message: ToolResultMessage) => encodeResult(message, mediaInResults)),
  }
}

/** Returns a user message with content parts. */
export function userOfParts(parts: string): string {
  return `{"role":"user","content":[${parts}]}`
}

/** Returns the response to an approval request. An error result denies the request, with its text as the reason. */
export function approvalJson({ toolCallId, isError, content }: ToolResultMessage): string {
  const reason = isError ? textOf(content) : ''
  const fields: JsonObject = { type: 'mcp_approval_response', approval_request_id: toolCallId, approve: !isError }
  return toJson(reason.trim() === '' ? fields : { ...fields, reason })
}

function encodeResult({ toolCallId, toolName, content }: ToolResultMessage, mediaInResults: boolean): EncodedResult {
  const media = content.filter(isMedia)
  const base = { type: 'function_call_output', call_id: toolCallId }
  if (media.length > 0 && mediaInResults) {
    const json = toJson(base)
    return { json: `${json.slice(0, -1)},"output":[${joinedAll(content.map(partJson))}]}`, mediaParts: '' }
  }
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const isSeen = media.every(({ type }) => type === 'image')
  const output = texts.join('\n') || (isSeen ? '(see attached image)' : '(see attached file)')
  if (media.length === 0) return { json: toJson({ ...base, output }), mediaParts: '' }
  const title = toJson({ type: 'input_text', text: `Files of call ${toolCallId} (${toolName}):` })
  return { json: toJson({ ...base, output }), mediaParts: joinedAll([title, ...media.map(partJson)]) }
}

function partJson(block: Content): string {
  if (isMedia(block)) return mediaJson(block, shownJson)
  return textJson(block.type === 'text' ? block.text : '')
}

function shownJson(block: ImageContent | FileContent): string {
  return block.type === 'file' ? fileJson(block) : imageJson(block)
}

function textJson(text: string): string {
  return toJson({ type: 'input_text', text })
}

/** Encodes a file. A text replaces a container file, because only the container can read it. */
function fileJson(file: FileContent): string {
  const source = sourceOf(file)
  if (source.type === 'fileId' && source.fileId.startsWith('cfile_')) return textJson(`(${file.name ?? 'A file'} was made in a container.)`)
  if (source.type === 'fileId') return toJson({ type: 'input_file', file_id: source.fileId })
  if (source.type === 'url') return toJson({ type: 'input_file', file_url: source.url })
  return toJson({ type: 'input_file', filename: file.name ?? nameByType('document', file.mimeType), file_data: addressOf(file) })
}

function imageJson(image: ImageContent): string {
  const source = sourceOf(image)
  const where: JsonObject = source.type === 'fileId' ? { file_id: source.fileId } : { image_url: addressOf(image) }
  return toJson({ type: 'input_image', ...where, detail: 'auto' })
}
