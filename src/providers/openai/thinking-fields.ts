import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { Content, ThinkingContent } from '../../contract/message/content.ts'
import type { ThinkingField } from '../../contract/model/model-config.ts'

/** Fields in which providers return reasoning as text, in lookup order. Source: docs/providers/openai.md */
const textFields = { reasoningContent: 'reasoning_content', reasoning: 'reasoning', reasoningText: 'reasoning_text' } as const

type TextField = keyof typeof textFields
const fieldNames = Object.keys(textFields) as TextField[] // Keys of the object itself.

/** Wire names of reasoning fields. */
export const reasoningNames: readonly string[] = [...Object.values(textFields), 'reasoning_details']

/** Source of reasoning in a response: a separate field, content parts, or the text. */
export type ReceivedField = Exclude<ThinkingField, 'received' | 'none'>

/** Reasoning fields of a delta. */
export type ReasoningDelta = { readonly [Name in (typeof textFields)[TextField]]?: string | null }

/** Returns the first field of `delta` that contains reasoning, if any. */
export function reasoningFieldIn(delta: ReasoningDelta): TextField | undefined {
  for (const field of fieldNames) if (delta[textFields[field]]) return field
  return undefined
}

/** Returns the reasoning in the given field of `delta`. */
export function reasoningIn(delta: ReasoningDelta, field: TextField): unknown {
  return delta[textFields[field]]
}

/** Rules for sending reasoning back. */
export interface ThinkingRules {
  /** Value of `compat.thinkingField`. */
  field: ThinkingField
  /** Field to use if the field of the received reasoning is unknown. */
  otherwise: Exclude<ThinkingField, 'received'>
  /**
   * Which responses contain reasoning in a separate field: responses with calls, responses with reasoning, or all responses, even if the
   * reasoning is empty.
   */
  sentWith: 'calls' | 'any' | 'all'
  /** Whether `reasoning_details` also contains the text, so that the text field is omitted. */
  detailsSuffice: boolean
}

/** State of a thinking block with its source. */
export interface ThinkingState extends JsonObject {
  field?: ReceivedField
  /** White space and tags before and after reasoning in the text. */
  before?: string
  after?: string
}

/** Returns whether `block` can be sent back. */
export function goesBack(block: ThinkingContent, rules: ThinkingRules): boolean {
  const field = fieldFor(block, rules)
  return (field !== 'none' && !isBlankPart(block, field)) || detailsOf(block, rules).length > 0
}

/** Returns whether `block` would become a blank text part, which providers reject. */
function isBlankPart({ thinking }: ThinkingContent, field: ThinkingField): boolean {
  return field === 'parts' && thinking.trim() === ''
}

function fieldFor({ providerState }: ThinkingContent, { field, otherwise }: ThinkingRules): Exclude<ThinkingField, 'received'> {
  if (field !== 'received') return field
  const { field: received, reasoningDetails } = providerState?.payload ?? {}
  if (isReceived(received)) return received
  return Array.isArray(reasoningDetails) ? 'none' : otherwise
}

function isReceived(field: JsonValue | undefined): field is ReceivedField {
  return field === 'parts' || field === 'thinkTags' || fieldNames.some((name) => name === field)
}

/** Returns the original details of `block`. */
function detailsOf({ providerState }: ThinkingContent, { field }: ThinkingRules): JsonValue[] {
  const details = providerState?.payload.reasoningDetails
  return field === 'received' && Array.isArray(details) ? details : []
}

/** Encodes the reasoning in `content` as fields of an assistant message. */
export function reasoningFields(content: readonly Content[], rules: ThinkingRules): JsonObject {
  const thinking = content.filter((block) => block.type === 'thinking')
  const details = thinking.flatMap((block) => detailsOf(block, rules))
  const ofDetails: JsonObject = details.length > 0 ? { reasoning_details: details } : {}
  const isLeftOut = rules.sentWith === 'calls' && content.every(({ type }) => type !== 'toolCall')
  if (isLeftOut || (details.length > 0 && rules.detailsSuffice)) return ofDetails
  const fields: Record<string, string> = {}
  for (const block of thinking) {
    const name = nameOf(fieldFor(block, rules))
    if (name !== undefined && block.thinking !== '') fields[name] = (fields[name] ?? '') + block.thinking
  }
  const demanded = rules.sentWith === 'all' ? nameOf(rules.field === 'received' ? rules.otherwise : rules.field) : undefined
  if (demanded !== undefined && Object.keys(fields).length === 0) fields[demanded] = ''
  return { ...fields, ...ofDetails }
}

function nameOf(field: ThinkingField): string | undefined {
  return fieldNames.includes(field as TextField) ? textFields[field as TextField] : undefined // The value is from the same list.
}

/** Returns the text of `content` including reasoning, or a list if reasoning is a separate part. */
export function writtenContent(content: readonly Content[], rules: ThinkingRules): string | JsonObject[] {
  let text = ''
  let parts: JsonObject[] | undefined
  for (const block of content) {
    if (block.type === 'text') text += block.text
    if (block.type !== 'thinking' || block.thinking === '') continue
    const field = fieldFor(block, rules)
    if (field === 'thinkTags') text += tagged(block)
    if (field !== 'parts' || isBlankPart(block, field)) continue
    parts = [...(parts ?? []), ...textParts(text), { type: 'thinking', thinking: [{ type: 'text', text: block.thinking }] }]
    text = ''
  }
  return parts === undefined ? text : [...parts, ...textParts(text)]
}

function textParts(text: string): JsonObject[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

/** Writes reasoning with the tags that were received, otherwise with the tags from the models' templates. */
function tagged({ thinking, providerState }: ThinkingContent): string {
  const { before, after } = providerState?.payload ?? {}
  return typeof before === 'string' && typeof after === 'string' ? before + thinking + after : `<think>\n${thinking}\n</think>\n\n`
}
