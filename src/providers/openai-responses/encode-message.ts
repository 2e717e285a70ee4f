import type { JsonObject } from '../../contract/json.ts'
import { serviceToolText } from '../../contract/message/block-words.ts'
import type { Content, FileContent, ImageContent, TextContent, ToolCallContent } from '../../contract/message/content.ts'
import { addressOf, sourceOf } from '../../contract/message/media.ts'
import { type AssistantMessage, type ToolResultMessage, text, textOf, type UserMessage } from '../../contract/message/message.ts'
import { toJson } from '../kit/encode/json-text.ts'
import { perObject } from '../kit/encode/per-object.ts'
import { legalName } from '../kit/history/legal-id.ts'
import { reasoningId, replayPayload } from './replay-state.ts'

/** A tool result: its item, and its images as parts for a user message where results take text only. */
export interface EncodedResult {
  json: string
  /** Comma-separated parts; empty without images. */
  imageParts: string
}

/** An answer as it was given. */
export interface EncodedAnswer {
  json: string
  /** Ids of its items: none may stand twice in a request. */
  ids: readonly string[]
  hasReasoning: boolean
}

/** Encodes normalised messages into comma-separated input items; what is known of a message is kept as long as the message. */
export interface MessageEncoder {
  user(message: UserMessage): string
  /** With reasoning and ids, if they still stand together. */
  answer(message: AssistantMessage): EncodedAnswer
  /** Without reasoning and ids. */
  bareAnswer(message: AssistantMessage): string
  result(message: ToolResultMessage): EncodedResult
  /** What somebody decided about a call of the service. */
  decision(message: ToolResultMessage): string
}

const legalItemName = /^[a-zA-Z0-9_-]+$/

/** An encoder; `imagesInResults` says whether results may carry images. Source: docs/providers/openai-responses.md */
export function messageEncoder(imagesInResults: boolean): MessageEncoder {
  return {
    user: perObject((message: UserMessage) => userOfParts(message.content.map(partJson).join(','))),
    answer: perObject(({ content }: AssistantMessage) =>
      isIntact(content) ? ownItems(content) : { json: bareItems(content), ids: [], hasReasoning: false },
    ),
    bareAnswer: perObject(({ content }: AssistantMessage) => bareItems(content)),
    result: perObject((message: ToolResultMessage) => encodeResult(message, imagesInResults)),
    decision: perObject(({ toolCallId, isError, content }: ToolResultMessage) =>
      toJson({
        ...{ type: 'mcp_approval_response', approval_request_id: toolCallId, approve: !isError },
        ...(isError && { reason: textOf(content) }),
      }),
    ),
  }
}

/** A user message of content parts. */
export function userOfParts(parts: string): string {
  return `{"role":"user","content":[${parts}]}`
}

/** Whether each reasoning item still stands right before the item it led to, and that one right behind it. */
function isIntact(content: readonly Content[]): boolean {
  let expected: string | undefined
  for (const block of content) {
    if (block.type === 'image' || block.type === 'file') continue
    const { item, id, after } = replayPayload(block.providerState)
    if (after !== expected) return false
    // Blank text is only sent under its id.
    if (after !== undefined && block.type === 'text' && block.text.trim() === '' && legalItemId(id, 'msg') === undefined) return false
    expected = block.type === 'thinking' && item !== undefined ? reasoningId(item) : undefined
  }
  return expected === undefined
}

function ownItems(content: readonly Content[]): EncodedAnswer {
  const items: string[] = []
  const ids: string[] = []
  let message: JsonObject | undefined
  let parts: JsonObject[] = []
  for (const block of content) {
    if (block.type === 'image' || block.type === 'file') continue
    const { item, result, id, phase } = replayPayload(block.providerState)
    if (block.type === 'text' && message !== undefined && message.id === id) {
      parts.push(textPart(block))
      continue
    }
    if (message !== undefined) items.push(toJson({ ...message, content: parts }))
    message = undefined
    const legal = block.type === 'thinking' ? item && reasoningId(item) : legalItemId(id, block.type === 'text' ? 'msg' : 'fc')
    if (legal) ids.push(legal)
    if (block.type === 'thinking' && item !== undefined) items.push(toJson(item))
    else if (block.type === 'serviceTool' || block.type === 'opaque') items.push(...serviceItems(item, result, content).map(toJson))
    else if (block.type === 'toolCall') items.push(callJson(block, legal))
    else if (block.type === 'text') {
      if (legal === undefined) items.push(...bareText(block))
      else {
        message = { type: 'message', role: 'assistant', id: legal, status: 'completed', ...(phase === undefined ? {} : { phase }) }
        parts = [textPart(block)]
      }
    }
  }
  if (message !== undefined) items.push(toJson({ ...message, content: parts }))
  const hasReasoning = content.some(({ type }) => type === 'thinking')
  return { json: items.join(','), ids, hasReasoning }
}

/** What a tool of the service did, as it came; the picture it made stands in a block of its own. */
function serviceItems(item: JsonObject | undefined, result: JsonObject | undefined, content: readonly Content[]): JsonObject[] {
  if (item === undefined) return []
  const made = content.find((block) => block.type === 'image' && replayPayload(block.providerState).of === item.id)
  const whole = made?.type === 'image' && made.data !== undefined ? { ...item, result: made.data } : item
  return result === undefined ? [whole] : [whole, result]
}

/** Text goes before the calls: gateways to other protocols want results right behind those. */
function bareItems(content: readonly Content[]): string {
  const texts = content.flatMap((block) => {
    if (block.type === 'text') return bareText(block)
    return block.type === 'serviceTool' ? bareText(text(serviceToolText(block))) : []
  })
  const calls = content.flatMap((block) => (block.type === 'toolCall' ? [callJson(block)] : []))
  return [...texts, ...calls].join(',')
}

/** Text without an id goes in the short form, which every service takes from anybody. */
function bareText({ text: said }: TextContent): string[] {
  return said.trim() === '' ? [] : [toJson({ role: 'assistant', content: said })]
}

function textPart({ text: said, providerState }: TextContent): JsonObject {
  return { type: 'output_text', text: said, annotations: replayPayload(providerState).annotations ?? [] }
}

function callJson(call: ToolCallContent, id?: string): string {
  const { namespace, caller } = replayPayload(call.providerState)
  const item: JsonObject = {
    ...{ type: 'function_call', call_id: call.id, name: legalName(call.name), arguments: toJson(call.arguments) },
    ...(namespace !== undefined && { namespace }),
    ...(caller !== undefined && { caller }),
  }
  return toJson(id === undefined ? item : { ...item, id })
}

/** Some services give ids that they do not take back. */
function legalItemId(id: string | undefined, prefix: string): string | undefined {
  return id?.startsWith(`${prefix}_`) && id.length <= 64 && legalItemName.test(id) ? id : undefined
}

function encodeResult({ toolCallId, content }: ToolResultMessage, imagesInResults: boolean): EncodedResult {
  const hasMedia = content.some((block) => block.type === 'image' || block.type === 'file')
  const base = { type: 'function_call_output', call_id: toolCallId }
  if (hasMedia && imagesInResults) {
    const json = toJson(base)
    return { json: `${json.slice(0, -1)},"output":[${content.map(partJson).join(',')}]}`, imageParts: '' }
  }
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const imageParts = content.filter((block) => block.type === 'image' || block.type === 'file').map(partJson)
  return {
    json: toJson({
      ...base,
      output: texts.join('\n') || (content.some(({ type }) => type === 'file') ? '(see the attached files)' : '(see attached image)'),
    }),
    imageParts: imageParts.join(','),
  }
}

function partJson(block: Content): string {
  if (block.type === 'file') return fileJson(block)
  return block.type === 'image' ? imageJson(block) : toJson({ type: 'input_text', text: block.type === 'text' ? block.text : '' })
}

function fileJson(file: FileContent): string {
  const source = sourceOf(file)
  if (source.type === 'fileId') return toJson({ type: 'input_file', file_id: source.fileId })
  if (source.type === 'url') return toJson({ type: 'input_file', file_url: source.url })
  return toJson({ type: 'input_file', filename: file.name ?? 'document', file_data: addressOf(file) })
}

function imageJson(image: ImageContent): string {
  const source = sourceOf(image)
  const where: JsonObject = source.type === 'fileId' ? { file_id: source.fileId } : { image_url: addressOf(image) }
  return toJson({ type: 'input_image', ...where, detail: 'auto' })
}
