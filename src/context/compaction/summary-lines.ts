import { newId } from '../../contract/message/identity.ts'
import { type AgentMessage, type AssistantMessage, type LlmMessage, toolCallsOf, userMessage } from '../../contract/message/message.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'
import { isStandIn, standIn } from '../view/stand-in.ts'

const maxLineBytes = 200
const removedMark = /^\[Context compacted: (\d{1,15}) messages removed(?: to fit context window)?\]$/

/**
 * `messages` with each answer replaced by one line in its role and turn: its short texts, else how many tools it used, else that there was
 * one. Results are dropped with their calls, failed answers because no model is sent them; everything else stays as it is, earlier summaries
 * and memos too.
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
 * A message that says what a summary says, for a `CompactionStrategy` that has one written. It stands in the role of the model, labelled
 * `[Summary]` and fenced, so that nothing in it passes for words of the user.
 */
export function summaryMessage(summary: string): LlmMessage {
  return standIn(`[Summary] ${summary}`)
}

/** Stands for messages left out between the first and the recent ones. */
export function middleMarker(count: number): LlmMessage {
  return marker(`[Context compacted: ${count} messages removed to fit context window]`)
}

/** Stands for everything older than what follows. */
export function olderMarker(count: number): LlmMessage {
  return marker(`[Context compacted: ${count} messages removed]`)
}

function marker(text: string): LlmMessage {
  return { ...userMessage(text), id: newId(), provenanceHint: { kind: 'runtime' } }
}

/** Room for any marker. */
export function markerTokens(counter: TokenCounter): number {
  return counter.message(middleMarker(999_999))
}

/** How many messages a marker stands for; 0 for any other message. What a person said is of a turn, whatever it says. */
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

/** Services send blank texts beside calls: those say nothing. */
function isShort(text: string): boolean {
  return text.trim() !== '' && text.length <= maxLineBytes && new TextEncoder().encode(text).length <= maxLineBytes
}
