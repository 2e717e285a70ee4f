import type { JsonObject } from '../../contract/json.ts'
import { type Content, isMedia, type TextContent, type ThinkingContent } from '../../contract/message/content.ts'
import { isMediaOf } from '../../contract/message/media.ts'
import { type AssistantMessage, type Message, type ToolResultMessage, text, type UserMessage } from '../../contract/message/message.ts'
import type { RequestSettings } from '../../contract/model/request-settings.ts'
import { perObject, toJson, toolsEncoder } from '../kit/encode/json-pieces.ts'
import { type EncodedMessage, joinAnswer, joinBlocks, type MessageEncoder } from '../kit/encode/message-encoder.ts'
import { legalName } from '../kit/history/hash.ts'
import { seeAttached } from '../kit/optional/media/media-json.ts'
import { fileBlocks, imageBlock, isDocument, maxDocuments } from './media.ts'

/** Rules of a model family for messages. */
export interface MessageRules {
  resultStatus: boolean
  mediaInToolResults: readonly string[]
  /** Whether PDFs are cited by default. Without citations, the model gets only their text. */
  citesPdf: boolean
  /** Whether files may be cited in this request. */
  cites: boolean
}

interface ShownRules extends MessageRules {
  /** Returns the name of the document at this position in its message. */
  nameAt: (place: number) => string
  /** Maximum documents in a message, excluding those in results. */
  room: number
}

/** Creates a family's message encoder. Keep one per model: it caches encoded messages. */
export function messageEncoder(rules: MessageRules): MessageEncoder {
  return {
    encode: numbered(rules),
    bare: perObject((message: AssistantMessage) =>
      encode(message, false, { ...rules, nameAt: documentNames(message, 0), room: maxDocuments }),
    ),
  }
}

/** Encodes a message again only if its document numbers changed. */
function numbered(rules: MessageRules): MessageEncoder['encode'] {
  const known = perObject((_message: Message): { from?: number; room?: number; encoded?: EncodedMessage } => ({}))
  return (message, { before, loose }) => {
    const last = known(message)
    const room = Math.max(0, maxDocuments - loose)
    const isSame = last.from === before && last.room === room
    if (last.encoded !== undefined && (isSame || last.encoded.documents === undefined)) return last.encoded
    Object.assign(last, { from: before, room })
    last.encoded = encode(message, true, { ...rules, nameAt: documentNames(message, before), room })
    return last.encoded
  }
}

/** Names a message's documents. `before` is the number of documents in earlier messages. */
function documentNames({ content }: Message, before: number): ShownRules['nameAt'] {
  return (place) => `document-${before + content.slice(0, place + 1).filter(isDocument).length}`
}

/** Returns a function that adds a cache breakpoint after a list of blocks. All breakpoints in a request have the same lifetime. */
export function breakpointOf({ cacheTtl }: RequestSettings): (json: string) => string {
  const point = cacheTtl === '1h' ? '{"type":"default","ttl":"1h"}' : '{"type":"default"}'
  return (json) => `${json},{"cachePoint":${point}}`
}

/** Encodes tool definitions as JSON. The API rejects an empty description. */
export const toolsJson = toolsEncoder(({ name, description, parameters }) => {
  const inputSchema = { json: parameters }
  return toJson({ toolSpec: description.trim() === '' ? { name, inputSchema } : { name, description, inputSchema } })
})

function encode(message: Message, withReasoning: boolean, rules: ShownRules): EncodedMessage {
  if (message.role === 'toolResult') return encodeResult(message, rules)
  if (message.role === 'user') return encodeUser(message, rules)
  return joinAnswer(message.content, (block) => answerBlocks(block, withReasoning))
}

/** Replaces a document that exceeds the per-message limit. Adjacent messages are merged, so they share the limit. */
const crowdedOut = text(`(file left out: this service takes ${maxDocuments} such files in a message)`)

/** A message with a document must contain text. */
const seeDocument = text('(see attached document)')

function encodeUser({ content }: UserMessage, rules: ShownRules): EncodedMessage {
  const documents = content.filter(isDocument).length
  if (documents === 0) return joinBlocks(content, (block, at) => shownBlocks(block, at, rules))
  const isBare = !content.some((block) => block.type === 'text')
  let loose = 0
  // Identify blocks by position, because a block may occur twice.
  const fitting = content.map((block) => {
    if (!isDocument(block)) return block
    if (loose >= rules.room) return crowdedOut
    loose += 1
    return block
  })
  const encoded = joinBlocks(isBare ? [...fitting, seeDocument] : fitting, (block, at) => shownBlocks(block, at, rules))
  return { ...encoded, documents, loose, crowdedOut: documents - loose }
}

/** Encodes a result. A failed result contains only text. Images that a result cannot contain follow all results of the turn. */
function encodeResult(message: ToolResultMessage, rules: ShownRules): EncodedMessage {
  const { toolCallId, content, isError } = message
  const shown: JsonObject[] = []
  const after: string[] = []
  for (const [at, block] of content.entries()) {
    const [wire] = shownBlocks(block, at, rules)
    if (wire === undefined) continue
    if (isMedia(block) && (isError || !isMediaOf(block.mimeType, rules.mediaInToolResults))) after.push(toJson(wire))
    else shown.push(wire)
  }
  const documents = content.filter(isDocument).length
  const outside = after.filter((json) => json.startsWith('{"document"'))
  const excess = new Set(outside.slice(rules.room))
  if (outside.length > 0) after.push(toJson({ text: seeDocument.text }))
  const resultBlocks = after.map((json) => (excess.has(json) ? toJson({ text: crowdedOut.text }) : json))
  const hasMedia = shown.some(({ text }) => text === undefined)
  if (shown.length === 0) shown.push({ text: seeAttached(content) })
  const result: JsonObject = { toolUseId: toolCallId, content: shown }
  if (rules.resultStatus) result.status = isError ? 'error' : 'success'
  const blocks = toJson({ toolResult: result })
  const media = { before: '', end: blocks, after: '' }
  const counted = { documents, loose: outside.length - excess.size, crowdedOut: excess.size }
  return { blocks, ...(hasMedia && { media }), after: resultBlocks.join(','), ...(documents > 0 && counted) }
}

function shownBlocks(block: Content, at: number, { citesPdf, cites, nameAt }: ShownRules): JsonObject[] {
  if (block.type === 'text') return [{ text: block.text }]
  if (block.type === 'file') return fileBlocks(block, { name: nameAt(at), citesPdf, cites })
  return block.type === 'image' ? [imageBlock(block)] : []
}

function answerBlocks(block: Content, withReasoning: boolean): JsonObject[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [textBlock(block)]
    case 'thinking':
      return withReasoning ? [reasoningBlock(block)] : []
    case 'toolCall':
      return [{ toolUse: { toolUseId: block.id, name: legalName(block.name), input: block.arguments } }]
    default:
      return []
  }
}

/** Encodes text with the original citations. */
function textBlock({ text, providerState }: TextContent): JsonObject {
  const citations = providerState?.payload.citations
  return Array.isArray(citations) ? { citationsContent: { content: [{ text }], citations } } : { text }
}

function reasoningBlock({ thinking, signature, providerState }: ThinkingContent): JsonObject {
  const redacted = providerState?.payload.redacted
  if (typeof redacted === 'string') return { reasoningContent: { redactedContent: redacted } }
  return { reasoningContent: { reasoningText: signature === undefined ? { text: thinking } : { text: thinking, signature } } }
}
