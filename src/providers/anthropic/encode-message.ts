import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { Content, FileContent, ImageContent, TextContent, ThinkingContent } from '../../contract/message/content.ts'
import { baseType, isTextType, sourceOf } from '../../contract/message/media.ts'
import type { AssistantMessage, Message, ToolResultMessage } from '../../contract/message/message.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import type { RequestSettings } from '../../contract/model/request-settings.ts'
import { perObject, toJson, toolsEncoder } from '../kit/encode/json-pieces.ts'
import { type EncodedMessage, joinAnswer, joinBlocks, type MessageEncoder } from '../kit/encode/message-encoder.ts'
import { legalName } from '../kit/history/hash.ts'
import { seeAttached } from '../kit/optional/media/media-json.ts'
import { wordsIn } from '../kit/optional/media/media-rules.ts'

/** Creates the message encoder. `cites`: all documents enable citations. */
export function messageEncoder(cites: boolean): MessageEncoder {
  const shown = (block: Content) => shownBlocks(block, cites)
  return {
    encode: perObject((message: Message) => encode(message, shown)),
    bare: perObject((message: AssistantMessage) => encodeAnswer(message, false)),
  }
}

type ShownBlock = (block: Content) => JsonObject[]

/** Tool definitions as JSON. */
export const toolsJson = toolsEncoder((tool) => toJson(toolJson(tool)))

/** Definitions of deferred tools, which the provider searches. */
export const deferredJson = toolsEncoder((tool) => toJson({ ...toolJson(tool), defer_loading: true }))

function toolJson({ name, description, parameters }: ToolDefinition): object {
  return { name, description, input_schema: parameters }
}

/**
 * Returns a function that adds a cache breakpoint to the JSON object at the end of a text. All breakpoints of a request have the same
 * lifetime.
 */
export function breakpointOf({ cacheTtl }: RequestSettings): (json: string) => string {
  const control = cacheTtl === '1h' ? '{"type":"ephemeral","ttl":"1h"}' : '{"type":"ephemeral"}'
  return (json) => `${json.slice(0, -1)},"cache_control":${control}}`
}

function encode(message: Message, shown: ShownBlock): EncodedMessage {
  if (message.role === 'toolResult') return encodeResult(message, shown)
  return message.role === 'user' ? joinBlocks(message.content, shown) : encodeAnswer(message, true)
}

function encodeAnswer({ content }: AssistantMessage, withReasoning: boolean): EncodedMessage {
  return joinAnswer(content, (block) => answerBlocks(block, withReasoning))
}

function encodeResult({ toolCallId, content, isError }: ToolResultMessage, shownBlocks: ShownBlock): EncodedMessage {
  const [first] = content
  // A failed result may contain only text.
  const moved = isError ? content.filter((block) => block.type !== 'text') : []
  const kept = moved.length === 0 ? content : content.filter((block) => block.type === 'text')
  let shown: unknown
  if (kept.length === 0) shown = seeAttached(content)
  else if (kept.length === 1 && first?.type === 'text') shown = first.text
  else shown = kept.flatMap(shownBlocks)
  const result: JsonObject = { type: 'tool_result', tool_use_id: toolCallId }
  if (isError) result.is_error = true
  const blocks = toJson({ ...result, content: shown })
  const hasMedia = kept.some((block) => block.type !== 'text')
  return { blocks, ...(hasMedia && { media: { before: '', end: blocks, after: '' } }), after: joinBlocks(moved, shownBlocks).blocks }
}

function shownBlocks(block: Content, cites: boolean): JsonObject[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }]
  if (block.type === 'file') return [documentBlock(block, cites)]
  return block.type === 'image' ? [{ type: 'image', source: sourceJson(block) }] : []
}

function documentBlock(file: FileContent, cites: boolean): JsonObject {
  const { name, context } = file
  // Text files are accepted only with citations. Without citations, sends the text with the file name.
  const words = isTextType(file.mimeType) ? wordsIn(file) : undefined
  return {
    type: 'document',
    source: words === undefined ? sourceJson(file) : { type: 'text', media_type: 'text/plain', data: words },
    ...(name !== undefined && { title: name }),
    ...(context !== undefined && { context }),
    ...(cites && { citations: { enabled: true } }),
  }
}

function sourceJson(block: ImageContent | FileContent): JsonObject {
  const source = sourceOf(block)
  if (source.type === 'url') return { type: 'url', url: source.url }
  if (source.type === 'fileId') return { type: 'file', file_id: source.fileId }
  return { type: 'base64', media_type: baseType(block.mimeType), data: source.data }
}

function answerBlocks(block: Content, withReasoning: boolean): JsonObject[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text, ...citationsOf(block) }]
    case 'thinking':
      return withReasoning ? [reasoningBlock(block)] : []
    case 'toolCall': {
      const { caller, toolset_name } = block.providerState?.payload ?? {}
      const call = { type: 'tool_use', id: block.id, name: legalName(block.name), input: block.arguments }
      return [{ ...call, ...(caller !== undefined && { caller }), ...(toolset_name !== undefined && { toolset_name }) }]
    }
    default:
      return []
  }
}

/** Returns citations as received, without `file_id`, which the API does not accept. */
function citationsOf({ providerState }: TextContent): { citations?: JsonValue[] } {
  const citations = providerState?.payload.citations
  if (!Array.isArray(citations)) return {}
  const taken = citations.map((each) => {
    const { file_id: _id, ...citation } = Object(each) as JsonObject // exactly as received
    return citation
  })
  return { citations: taken }
}

function reasoningBlock(block: ThinkingContent): JsonObject {
  const redacted = block.providerState?.payload.redacted
  if (typeof redacted === 'string') return { type: 'redacted_thinking', data: redacted }
  return { type: 'thinking', thinking: block.thinking, signature: block.signature ?? '' }
}
