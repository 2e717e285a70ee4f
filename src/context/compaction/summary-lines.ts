import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, type AssistantMessage, type LlmMessage, toolCallsOf, userMessage } from '../../contract/message/message.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'
import { isStandIn, standIn } from '../view/stand-in.ts'

const maxLineBytes = 200
const removedMark = /^\[Context compacted: (\d{1,15}) messages removed(?: to fit context window)?\]$/

/**
 * Replaces each response in `messages` by one line in its role and turn: its short texts, otherwise the number of its tools, otherwise a
 * placeholder.
 * Drops results together with their calls, and failed responses because they are never sent. Keeps everything else, including earlier
 * summaries and memos.
 */
export function summaryLines(messages: readonly AgentMessage[]): AgentMessage[] {
  const lines: AgentMessage[] = []
  for (const message of messages) {
    if (isStandIn(message)) lines.push(message)
    else if (message.role === 'assistant') {
      if (message.stopReason !== 'error' && message.stopReason !== 'aborted') lines.push(lineOf(message))
    } else if (message.role !== 'toolResult') lines.push(message)
  }
  return lines
}

/**
 * Creates a summary message, for a `CompactionStrategy` that writes one. It has the model's role, is labelled `[Summary]` and fenced, so
 * that no part of it looks like user input.
 */
export function summaryMessage(summary: string): LlmMessage {
  return standIn(`[Summary] ${summary}`)
}

/** Replaces messages dropped between the first and the recent ones. */
export function middleMarker(count: number): LlmMessage {
  return marker(`[Context compacted: ${count} messages removed to fit context window]`)
}

/** Replaces all messages before the retained ones. */
export function olderMarker(count: number): LlmMessage {
  return marker(`[Context compacted: ${count} messages removed]`)
}

function marker(text: string): LlmMessage {
  return { ...userMessage(text), id: newId(), provenanceHint: { kind: 'runtime' } }
}

/** Token budget of any marker. */
export function markerTokens(counter: TokenCounter): number {
  return counter.message(middleMarker(999_999))
}

/** Returns how many messages a marker replaces, or 0 for other messages. A user message has a turn, so it is never a marker. */
export function removedCount(message: AgentMessage): number {
  if (message.role !== 'user' || message.turnId !== undefined || message.content.length !== 1) return 0
  const block = message.content[0]
  return Number((block?.type === 'text' && removedMark.exec(block.text)?.[1]) || 0)
}

function lineOf(message: Extract<AgentMessage, AssistantMessage>): LlmMessage {
  const { timestamp, turnId } = message
  return standIn(`[Summary] ${summaryOf(message)}`, { timestamp, ...(turnId !== undefined && { turnId }) })
}

function summaryOf({ content }: AssistantMessage): string {
  const short = content.flatMap((block) => (block.type === 'text' && isShort(block.text) ? [block.text] : []))
  if (short.length > 0) return short.join(' ')
  const tools = toolCallsOf(content).length
  return tools > 0 ? `[Assistant used ${tools} tool(s)]` : '[Assistant response]'
}

/** Skips the blank texts that providers send next to calls. */
function isShort(text: string): boolean {
  return text.trim() !== '' && text.length <= maxLineBytes && new TextEncoder().encode(text).length <= maxLineBytes
}
