import type { TokenCounter } from '../../types/compaction.ts'
import { newId } from '../../types/ids.ts'
import { type AgentMessage, type AssistantMessage, type LlmMessage, toolCallsOf, userMessage } from '../../types/message.ts'

const shortTextBytes = 200
const removedMark = /^\[Context compacted: (\d+) messages removed(?: to fit context window)?\]$/

/**
 * `messages` with each answer replaced by one line, as a user message of the same turn: its short texts, else how many tools it used, else
 * that there was one. Results are dropped with their calls, failed answers because no model is sent them; everything else stays as it is.
 *
 * Source: spec/27 "level2_summarize_old_turns".
 */
export function summaryLines(messages: readonly AgentMessage[]): AgentMessage[] {
  const lines: AgentMessage[] = []
  for (const message of messages) {
    if (message.role === 'assistant') {
      if (message.stopReason !== 'error' && message.stopReason !== 'aborted') lines.push(lineOf(message))
    } else if (message.role !== 'toolResult') lines.push(message)
  }
  return lines
}

/** A message that says what a summary says. */
export function summaryMessage(summary: string): LlmMessage {
  return { ...userMessage(`[Summary] ${summary}`), id: newId() }
}

/** Stands for messages left out between the first and the recent ones. */
export function middleMarker(count: number): LlmMessage {
  return { ...userMessage(`[Context compacted: ${count} messages removed to fit context window]`), id: newId() }
}

/** Stands for everything older than what follows. */
export function olderMarker(count: number): LlmMessage {
  return { ...userMessage(`[Context compacted: ${count} messages removed]`), id: newId() }
}

/** Room for any marker. */
export function markerTokens(counter: TokenCounter): number {
  return counter.message(middleMarker(999_999))
}

/** How many messages a marker stands for; 0 for any other message. */
export function removedCount(message: AgentMessage): number {
  if (message.role !== 'user' || message.content.length !== 1) return 0
  const block = message.content[0]
  return Number((block?.type === 'text' && removedMark.exec(block.text)?.[1]) || 0)
}

function lineOf(message: Extract<AgentMessage, AssistantMessage>): LlmMessage {
  const line: LlmMessage = { ...summaryMessage(summaryOf(message)), timestamp: message.timestamp }
  if (message.turnId !== undefined) line.turnId = message.turnId
  return line
}

function summaryOf({ content }: AssistantMessage): string {
  const short = content.flatMap((block) => (block.type === 'text' && isShort(block.text) ? [block.text] : []))
  if (short.length > 0) return short.join(' ')
  const tools = toolCallsOf(content).length
  return tools > 0 ? `[Assistant used ${tools} tool(s)]` : '[Assistant response]'
}

/** Services send blank texts beside calls: those say nothing. */
function isShort(text: string): boolean {
  return text.trim() !== '' && text.length <= shortTextBytes && new TextEncoder().encode(text).length <= shortTextBytes
}
