import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { Content, ThinkingContent } from '../../contract/message/content.ts'
import type { ThinkingField } from '../../contract/model/model-config.ts'

/** The fields in which services write reasoning as text, in the order in which they are looked for. Source: docs/providers/openai.md */
const textFields = { reasoningContent: 'reasoning_content', reasoning: 'reasoning', reasoningText: 'reasoning_text' } as const

type TextField = keyof typeof textFields
const fieldNames = Object.keys(textFields) as TextField[] // its own keys

/** The names of the fields that carry reasoning on the wire. */
export const reasoningNames: readonly string[] = [...Object.values(textFields), 'reasoning_details']

/** Where a response had its reasoning: a field of its own, parts of the content, or the text. */
export type ReceivedField = Exclude<ThinkingField, 'received' | 'none'>

/** What a delta may say of reasoning. */
export type ReasoningDelta = { readonly [Name in (typeof textFields)[TextField]]?: string | null }

/** Returns the first field of `delta` that holds reasoning; `undefined` if none does. */
export function reasoningFieldIn(delta: ReasoningDelta): TextField | undefined {
  for (const field of fieldNames) if (delta[textFields[field]]) return field
  return undefined
}

/** Returns the reasoning in `field` of `delta`. */
export function reasoningIn(delta: ReasoningDelta, field: TextField): unknown {
  return delta[textFields[field]]
}

/** Where reasoning goes back. */
export interface ThinkingRules {
  /** What `compat.thinkingField` says. */
  field: ThinkingField
  /** Where it goes if nothing says where it came. */
  otherwise: Exclude<ThinkingField, 'received'>
  /** Which responses carry it in a field of its own: those with calls, those that have any, or all of them, empty or not. */
  sentWith: 'calls' | 'any' | 'all'
  /** Details say what the text says, and are enough. */
  detailsSuffice: boolean
}

/** The state of a thinking block that says where it came. */
export interface ThinkingState extends JsonObject {
  field?: ReceivedField
  /** What stood before and after reasoning in the text. */
  before?: string
  after?: string
}

/** Returns whether `block` has a place in a request. */
export function goesBack(block: ThinkingContent, rules: ThinkingRules): boolean {
  const field = fieldFor(block, rules)
  return (field !== 'none' && !isBlankPart(block, field)) || detailsOf(block, rules).length > 0
}

/** A blank part says nothing; providers refuse blank parts of text. */
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

/** The details of `block`, which go back as they came. */
function detailsOf({ providerState }: ThinkingContent, { field }: ThinkingRules): JsonValue[] {
  const details = providerState?.payload.reasoningDetails
  return field === 'received' && Array.isArray(details) ? details : []
}

/** Returns the fields of an assistant message that carry the reasoning of `content`. */
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
  return fieldNames.includes(field as TextField) ? textFields[field as TextField] : undefined // a word of the same list
}

/** Returns the text of `content` with the reasoning that stands in it, as a list if reasoning is a part of its own. */
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

/** As it came, else as the templates of such models write it. */
function tagged({ thinking, providerState }: ThinkingContent): string {
  const { before, after } = providerState?.payload ?? {}
  return typeof before === 'string' && typeof after === 'string' ? before + thinking + after : `<think>\n${thinking}\n</think>\n\n`
}
