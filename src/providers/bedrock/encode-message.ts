import type { JsonObject } from '../../contract/json.ts'
import type { Content, ImageContent, TextContent, ThinkingContent } from '../../contract/message/content.ts'
import { isMediaOf } from '../../contract/message/media.ts'
import type { AssistantMessage, Message, ToolResultMessage } from '../../contract/message/message.ts'
import type { RequestSettings } from '../../contract/model/request-settings.ts'
import { imageFormat, imageLeftOut } from '../kit/encode/image-format.ts'
import { toJson } from '../kit/encode/json-text.ts'
import { type EncodedMessage, joinBlocks, type MessageEncoder } from '../kit/encode/message-encoder.ts'
import { perObject } from '../kit/encode/per-object.ts'
import { rootObject, toolsEncoder } from '../kit/encode/tool-json.ts'
import { legalName } from '../kit/history/legal-id.ts'
import { lateResults, payloadOf } from '../kit/history/service-payload.ts'

/** What the models of a family take inside messages. */
export interface MessageRules {
  resultStatus: boolean
  mediaInToolResults: readonly string[]
}

/** How Converse writes messages for a family. Keep one per model: what is encoded is remembered in it. */
export function messageEncoder(rules: MessageRules): MessageEncoder {
  return {
    encode: perObject((message: Message) => encode(message, true, rules)),
    bare: perObject((message: AssistantMessage) => encode(message, false, rules)),
  }
}

/** What puts a cache breakpoint behind the last of a list of blocks. All breakpoints of a request have one lifetime. */
export function breakpointOf({ cacheTtl }: RequestSettings): (json: string) => string {
  const point = cacheTtl === '1h' ? '{"type":"default","ttl":"1h"}' : '{"type":"default"}'
  return (json) => `${json},{"cachePoint":${point}}`
}

/** Tool definitions as JSON. The service takes no empty description. */
export const toolsJson = toolsEncoder(({ name, description, parameters }) => {
  const inputSchema = { json: rootObject(parameters) }
  return toJson({ toolSpec: description.trim() === '' ? { name, inputSchema } : { name, description, inputSchema } })
})

function encode(message: Message, withReasoning: boolean, rules: MessageRules): EncodedMessage {
  if (message.role === 'toolResult') return encodeResult(message, rules)
  if (message.role === 'user') return joinBlocks(message.content, shownBlock)
  const late = lateResults(message.content)
  return joinBlocks(message.content, (block, at) => [...answerBlocks(block, withReasoning), ...(late.get(at) ?? [])])
}

/** A failed result holds text only. Images that a result cannot hold follow behind all results of the turn. */
function encodeResult(message: ToolResultMessage, rules: MessageRules): EncodedMessage {
  const { toolCallId, content, isError } = message
  const shown: JsonObject[] = []
  const after: string[] = []
  for (const block of content) {
    const wire = shownBlock(block)
    if (wire === undefined) continue
    if (block.type === 'image' && (isError || !isMediaOf(block.mimeType, rules.mediaInToolResults))) after.push(toJson(wire))
    else shown.push(wire)
  }
  const hasMedia = shown.some(({ image }) => image !== undefined)
  if (shown.length === 0) shown.push({ text: '(see attached image)' })
  const result: JsonObject = { toolUseId: toolCallId, content: shown }
  if (rules.resultStatus) result.status = isError ? 'error' : 'success'
  const blocks = toJson({ toolResult: result })
  return { blocks, ...(hasMedia && { media: { before: '', end: blocks, after: '' } }), after: after.join(',') }
}

function shownBlock(block: Content): JsonObject | undefined {
  if (block.type === 'text') return { text: block.text }
  return block.type === 'image' ? imageBlock(block) : undefined
}

function imageBlock({ mimeType, data = '' }: ImageContent): JsonObject {
  const format = imageFormat(mimeType)
  if (format === undefined) return { text: imageLeftOut(mimeType) }
  return { image: { format, source: { bytes: data } } }
}

function answerBlocks(block: Content, withReasoning: boolean): JsonObject[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [saidBlock(block)]
    case 'thinking':
      return withReasoning ? [reasoningBlock(block)] : []
    case 'toolCall':
      return [{ toolUse: { toolUseId: block.id, name: legalName(block.name), input: block.arguments } }]
    case 'serviceTool': {
      const { call, result, gap } = payloadOf(block)
      return [...(call === undefined ? [] : [call]), ...(result === undefined || gap !== undefined ? [] : [result])]
    }
    default:
      return []
  }
}

/** Text, with what it rests on as the service said it. */
function saidBlock({ text, providerState }: TextContent): JsonObject {
  const citations = providerState?.payload.citations
  return Array.isArray(citations) ? { citationsContent: { content: [{ text }], citations } } : { text }
}

function reasoningBlock({ thinking, signature, providerState }: ThinkingContent): JsonObject {
  const redacted = providerState?.payload.redacted
  if (typeof redacted === 'string') return { reasoningContent: { redactedContent: redacted } }
  return { reasoningContent: { reasoningText: signature === undefined ? { text: thinking } : { text: thinking, signature } } }
}
