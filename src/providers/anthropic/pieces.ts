import type { Content, ImageContent, ThinkingContent } from '../../types/content.ts'
import type { JsonObject, JsonSchema } from '../../types/json.ts'
import type { AssistantMessage, Message, ToolResultMessage } from '../../types/message.ts'
import type { ToolDefinition } from '../../types/provider.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { emptyHash, extendHash, type Hash } from '../shared/hash.ts'
import { toJson } from '../shared/json-text.ts'

/** The encoded blocks of one message, comma-separated, each a JSON object. */
export interface Piece {
  readonly blocks: string
  /** Images of failed results: they go behind all results of the turn. */
  readonly after: string
}

const illegalInName = /[^a-zA-Z0-9_-]/g
const rootUnions = ['anyOf', 'oneOf', 'allOf'] as const

/** The piece of a message; made once. */
export const pieceOf = perObject((message: Message) => encode(message, true))

/** The piece of an answer without its reasoning, for a prefix that has changed. */
export const bareOf = perObject((message: AssistantMessage) => encode(message, false))

/** The hash of a piece; made once. */
export const pieceHash = perObject((piece: Piece): Hash => extendHash(extendHash(emptyHash, piece.blocks), piece.after))

/** A tool definition as JSON; made once. The service takes no union at the root of a schema: its branches are merged, all optional. */
export const toolJson = perObject(({ name, description, parameters }: ToolDefinition) =>
  toJson({ name, description, input_schema: rootObject(parameters) }),
)

function encode(message: Message, withReasoning: boolean): Piece {
  if (message.role === 'toolResult') return encodeResult(message)
  const blocks: string[] = []
  for (const block of message.content) {
    const json = message.role === 'user' ? shownJson(block) : answerJson(block, withReasoning)
    if (json !== undefined) blocks.push(json)
  }
  return { blocks: blocks.join(','), after: '' }
}

function encodeResult(message: ToolResultMessage): Piece {
  const { toolCallId, content, isError } = message
  const [first] = content
  // A failed result may hold text only.
  const moved = isError ? content.filter((block) => block.type === 'image') : []
  const kept = moved.length === 0 ? content : content.filter((block) => block.type !== 'image')
  let shown: unknown
  if (kept.length === 0) shown = '(see attached image)'
  else if (kept.length === 1 && first?.type === 'text') shown = first.text
  else shown = kept.map(shownBlock)
  const result: JsonObject = { type: 'tool_result', tool_use_id: toolCallId }
  if (isError) result.is_error = true
  return { blocks: toJson({ ...result, content: shown }), after: moved.map((image) => toJson(imageBlock(image))).join(',') }
}

function shownJson(block: Content): string | undefined {
  const shown = shownBlock(block)
  return shown === undefined ? undefined : toJson(shown)
}

function shownBlock(block: Content): JsonObject | undefined {
  if (block.type === 'text') return { type: 'text', text: block.text }
  return block.type === 'image' ? imageBlock(block) : undefined
}

function imageBlock({ mimeType, data }: ImageContent): JsonObject {
  return { type: 'image', source: { type: 'base64', media_type: mimeType, data } }
}

function answerJson(block: Content, withReasoning: boolean): string | undefined {
  if (block.type === 'text') return block.text.trim() === '' ? undefined : toJson({ type: 'text', text: block.text })
  if (block.type === 'thinking') return withReasoning ? toJson(reasoningBlock(block)) : undefined
  if (block.type === 'image') return undefined
  // A name a model made up need not be a legal one.
  const name = block.name.replace(illegalInName, '_').slice(0, 64) || 'unknown'
  return toJson({ type: 'tool_use', id: block.id, name, input: block.arguments })
}

function reasoningBlock(block: ThinkingContent): JsonObject {
  const redacted = block.providerState?.payload.redacted
  if (typeof redacted === 'string') return { type: 'redacted_thinking', data: redacted }
  return { type: 'thinking', thinking: block.thinking, signature: block.signature ?? '' }
}

function rootObject(schema: JsonSchema): JsonSchema {
  const root: JsonSchema = { ...schema, type: 'object' }
  let properties: object = {}
  let hasUnion = false
  for (const keyword of rootUnions) {
    const branches = schema[keyword]
    if (branches === undefined) continue
    hasUnion = true
    delete root[keyword]
    if (Array.isArray(branches)) for (const branch of branches) properties = { ...properties, ...propertiesOf(branch) }
  }
  if (hasUnion) root.properties = { ...properties, ...propertiesOf(schema) }
  return root
}

function propertiesOf(schema: unknown): object {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return {}
  const { properties } = schema
  return typeof properties === 'object' && properties !== null ? properties : {}
}
