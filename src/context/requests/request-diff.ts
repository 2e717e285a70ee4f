import { mediaName } from '../../contract/message/block-words.ts'
import { type Content, isMedia } from '../../contract/message/content.ts'
import type { BlockProvenance } from '../../contract/message/identity.ts'
import { mediaBytes } from '../../contract/message/media.ts'
import { type Message, withId } from '../../contract/message/message.ts'
import type { AnnotatedRequest } from '../../contract/model/request.ts'
import { estimateTokens, messageTokens } from '../tokens/estimate.ts'

/** The first difference between a request and the previous request. */
export interface RequestBreak {
  part: 'model' | 'settings' | 'tools' | 'systemPrompt' | 'messages'
  reason: 'changed' | 'removed' | 'inserted'
  /** Position among the tools or messages: in the previous request for `removed`, otherwise in the new request. */
  index?: number
  /** Position of the block within that message. Absent if the whole message was added, removed or replaced. */
  blockIndex?: number
  /** Origin of that message. */
  provenance?: BlockProvenance
  /** About 120 characters around the difference, from the previous request. */
  before?: string
  /** The same excerpt from the new request. */
  after?: string
}

/** The common prefix of two requests, which a prompt cache can serve. */
export interface RequestDiff {
  /** Whole messages. */
  commonMessages: number
  /** Estimate: of tools, system prompt and messages, up to the difference. */
  commonTokens: number
  /** Absent if the previous request is a prefix of this one. */
  firstChange?: RequestBreak
}

interface Difference {
  at: number
  reason: RequestBreak['reason']
}

const excerptLength = 120

/**
 * Compares a request with the previous turn's request, in the order in which providers cache content. The order is model, response format,
 * tools, system prompt, thinking, then messages block by block.
 *
 * **Contract**
 * - New messages at the end do not count as a difference. `maxTokens` and `temperature` are not compared: they are not part of the prompt.
 *   Neither are ids and times, which are not sent.
 * - Counts are estimates by the default counter. Pure.
 *
 * Source: docs/concepts/context.md
 */
export function diffTurnRequests(previous: AnnotatedRequest, next: AnnotatedRequest): RequestDiff {
  const diff: RequestDiff = { commonMessages: 0, commonTokens: 0 }
  const firstChange =
    whole('model', modelOf(previous), modelOf(next)) ??
    whole('settings', json(previous.responseFormat ?? { type: 'text' }), json(next.responseFormat ?? { type: 'text' })) ??
    toolsChange(previous, next, diff) ??
    whole('systemPrompt', previous.systemPrompt, next.systemPrompt) ??
    thinkingChange(previous, next, diff) ??
    messagesChange(previous, next, diff)
  return firstChange === undefined ? diff : { ...diff, firstChange }
}

function modelOf({ provider, modelId, api }: AnnotatedRequest): string {
  return `${provider} ${modelId} (${api})`
}

function whole(part: RequestBreak['part'], before: string, after: string): RequestBreak | undefined {
  return before === after ? undefined : { part, reason: 'changed', ...excerpts(before, after) }
}

function toolsChange(previous: AnnotatedRequest, next: AnnotatedRequest, diff: RequestDiff): RequestBreak | undefined {
  const difference = firstDifference(previous.tools, next.tools, isSame)
  const common = next.tools.slice(0, difference?.at)
  diff.commonTokens += common.reduce((sum, tool) => sum + estimateTokens(json(tool)), 0)
  if (difference === undefined) return undefined
  const { at, reason } = difference
  return { part: 'tools', index: at, reason, ...excerptsOf(reason, previous.tools[at], next.tools[at], json) }
}

function thinkingChange(previous: AnnotatedRequest, next: AnnotatedRequest, diff: RequestDiff): RequestBreak | undefined {
  diff.commonTokens += estimateTokens(next.systemPrompt)
  return whole('settings', `thinking ${previous.thinkingLevel}`, `thinking ${next.thinkingLevel}`)
}

function messagesChange(previous: AnnotatedRequest, next: AnnotatedRequest, diff: RequestDiff): RequestBreak | undefined {
  const difference = firstDifference(previous.messages, next.messages, isSameMessage)
  const common = next.messages.slice(0, difference?.at)
  diff.commonMessages = common.length
  diff.commonTokens += common.reduce((sum, message) => sum + tokensOf(message), 0)
  if (difference === undefined || difference.at === previous.messages.length) return undefined
  const { at, reason } = difference
  const [before, after] = [previous.messages[at], next.messages[at]]
  const provenance = (reason === 'removed' ? previous : next).provenance[at]
  const where = { part: 'messages' as const, index: at, ...(provenance !== undefined && { provenance }) }
  if (reason !== 'changed' || before === undefined || after === undefined || headOf(before) !== headOf(after)) {
    return { ...where, reason, ...excerptsOf(reason, before, after, messageText) }
  }
  const block = firstDifference(before.content, after.content, isSame) ?? { at: 0, reason }
  if (block.at > 0) diff.commonTokens += tokensOf({ ...after, content: after.content.slice(0, block.at) })
  const texts = excerptsOf(block.reason, before.content[block.at], after.content[block.at], blockText)
  return { ...where, reason: block.reason, blockIndex: block.at, ...texts }
}

/** Returns what differs between two lists, or `undefined` if they are equal. */
function firstDifference<T>(before: readonly T[], after: readonly T[], same: (a: T, b: T) => boolean): Difference | undefined {
  const length = Math.max(before.length, after.length)
  for (let at = 0; at < length; at += 1) {
    const [old, fresh] = [before[at], after[at]]
    if (fresh === undefined) return { at, reason: 'removed' }
    if (old === undefined) return { at, reason: 'inserted' }
    if (same(old, fresh)) continue
    if (before.slice(at + 1).some((each) => same(each, fresh))) return { at, reason: 'removed' }
    return { at, reason: after.slice(at + 1).some((each) => same(old, each)) ? 'inserted' : 'changed' }
  }
  return undefined
}

/** Compares as text, because the request also depends on the order of keys. */
function isSame(a: object, b: object): boolean {
  return a === b || json(a) === json(b)
}

function isSameMessage(a: Message, b: Message): boolean {
  if (a === b) return true
  if (a.content.length !== b.content.length || headOf(a) !== headOf(b)) return false
  return a.content.every((block, index) => isSame(block, b.content[index] ?? {}))
}

/** Parts of a message other than its blocks. */
function headOf(message: Message): string {
  return message.role === 'toolResult' ? json([message.toolCallId, message.toolName, message.isError]) : message.role
}

function tokensOf(message: Message): number {
  return messageTokens(withId(message))
}

function messageText(message: Message): string {
  return `${message.role}: ${message.content.map(blockText).join('\n')}`
}

function blockText(block: Content): string {
  if (isMedia(block)) return `${block.type} ${mediaName(block)}, ${mediaBytes(block)} bytes`
  return block.type === 'text' && block.providerState === undefined ? block.text : json(block)
}

function excerptsOf<T>(reason: Difference['reason'], before: T | undefined, after: T | undefined, show: (value: T) => string) {
  if (before === undefined || reason === 'inserted') return after === undefined ? {} : { after: cut(show(after), 0) }
  if (after === undefined || reason === 'removed') return { before: cut(show(before), 0) }
  return excerpts(show(before), show(after))
}

/** Returns excerpts of both texts around the first difference. */
function excerpts(before: string, after: string): { before: string; after: string } {
  let at = 0
  while (at < before.length && before.charCodeAt(at) === after.charCodeAt(at)) at += 1
  const from = Math.max(0, at - excerptLength / 4)
  return { before: cut(before, from), after: cut(after, from) }
}

function cut(words: string, from: number): string {
  const end = from + excerptLength
  return `${from > 0 ? '…' : ''}${words.slice(from, end)}${end < words.length ? '…' : ''}`
}

function json(value: unknown): string {
  return JSON.stringify(value)
}
