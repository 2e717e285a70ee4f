import type { Citation, Content } from '../contract/message/content.ts'
import { type AgentMessage, loopIdOf, shownContent } from '../contract/message/message.ts'
import type { StreamDelta } from '../contract/model/request.ts'
import type { MessageEndEvent, MessageStartEvent, MessageUpdateEvent } from '../contract/run/event.ts'
import { type BlockView, type MessageView, type RunState, type ToolView, withEntries } from './state.ts'

/** Adds a message. An assistant message starts empty: `event.message` is a live view that may be ahead of this event. */
export function messageStarted(state: RunState, event: MessageStartEvent): RunState {
  const { message } = event
  const streamed = message.role === 'assistant'
  const view: MessageView = {
    id: event.messageId,
    role: message.role,
    status: 'streaming',
    blocks: streamed ? [] : blocksOf(message, []),
    startedAt: event.at,
  }
  const { live, retry: _over, ...rest } = state
  const settled = live === undefined || live.id === view.id ? state.messages : place(state.messages, live)
  if (!streamed) return { ...rest, messages: place(settled, view) }
  const known = settled.findIndex((other) => other.id === view.id)
  return { ...rest, messages: known < 0 ? settled : settled.toSpliced(known, 1), live: view }
}

/** Applies a delta. Ignores deltas if the message's start was missed, because the end event contains the whole message. */
export function messageUpdated(state: RunState, event: MessageUpdateEvent): RunState {
  const { live } = state
  if (live?.id !== event.messageId) return updateSettled(state, event)
  // Only a response's first delta can replace a failed response.
  const before = live.blocks.length === 0 ? withNextAttempt(state, event) : state
  const next: RunState = { ...before, live: grow(live, event.delta, event.at) }
  if (event.delta.type === 'toolCallDelta') next.tools = withStreamingCall(state.tools, event.delta)
  return next
}

/** Completes a message: replaces its blocks with those of the finished message, even if deltas were missed. */
export function messageEnded(state: RunState, event: MessageEndEvent): RunState {
  const { live, ...rest } = hasContent(event.message) ? withNextAttempt(state, event) : state
  const before = live?.id === event.messageId ? live : state.messages.findLast((view) => view.id === event.messageId)
  const view: MessageView = {
    ...settledView(event.messageId, event.message, before?.blocks),
    startedAt: before?.startedAt ?? event.at,
    endedAt: event.at,
  }
  const next: RunState = { ...rest, messages: place(rest.messages, view), tools: withCallsOf(state.tools, event.message) }
  if (live !== undefined && live.id !== event.messageId) next.live = live
  return next
}

/** Adds a finished message. `streamed` are the blocks shown while it streamed. */
export function settledView(id: string, message: AgentMessage, streamed: readonly BlockView[] = []): MessageView {
  return { id, role: message.role, status: 'done', blocks: blocksOf(message, streamed), startedAt: timeOf(message), message }
}

function timeOf(message: AgentMessage): number {
  return message.role === 'extension' ? 0 : message.timestamp
}

/** Two streaming messages are rare. The older one stays in the list. */
function updateSettled(state: RunState, event: MessageUpdateEvent): RunState {
  const view = state.messages.findLast((other) => other.id === event.messageId)
  if (view === undefined || view.status === 'done') return state
  return { ...state, messages: place(state.messages, grow(view, event.delta, event.at)) }
}

/** Returns `messages` with `view` at its previous index, or appended if new. */
function place(messages: readonly MessageView[], view: MessageView): readonly MessageView[] {
  const index = messages.findLastIndex((other) => other.id === view.id)
  return index < 0 ? [...messages, view] : messages.with(index, view)
}

function grow(view: MessageView, delta: StreamDelta, at: number): MessageView {
  const blocks = view.blocks.slice()
  // A block that is never streamed (redacted thinking, an image) leaves an empty text in its place until the message ends.
  while (blocks.length < delta.contentIndex) blocks.push({ type: 'text', text: '' })
  blocks[delta.contentIndex] = grownBlock(blocks[delta.contentIndex], delta, at, startOf(view, delta.contentIndex))
  return { ...view, blocks }
}

function grownBlock(block: BlockView | undefined, delta: StreamDelta, at: number, startedAt: number): BlockView {
  if (delta.type === 'text')
    return block?.type === 'text' ? { ...block, text: block.text + delta.delta } : { type: 'text', text: delta.delta }
  if (delta.type === 'citation') return cited(block, delta.citation)
  if (delta.type === 'block') return blockOf(delta.block, block)
  if (delta.type === 'thinking') {
    if (block?.type !== 'thinking') return { type: 'thinking', text: delta.delta, startedAt, updatedAt: at }
    return { type: 'thinking', text: block.text + delta.delta, startedAt: block.startedAt ?? startedAt, updatedAt: at }
  }
  const before = block?.type === 'toolCall' ? block.argumentsText : ''
  return { type: 'toolCall', toolCallId: delta.toolCallId, toolName: delta.toolName, argumentsText: before + delta.delta }
}

function cited(block: BlockView | undefined, citation: Citation): BlockView {
  if (block?.type !== 'text') return { type: 'text', text: '', citations: [citation] }
  return { ...block, citations: [...(block.citations ?? []), citation] }
}

/** A block starts when the previous one has ended. */
function startOf(view: MessageView, contentIndex: number): number {
  const before = view.blocks[contentIndex - 1]
  return before?.type === 'thinking' ? (before.updatedAt ?? view.startedAt) : view.startedAt
}

/** Some providers reuse call ids in every response, so a repeated id is a new call. */
function withStreamingCall(tools: RunState['tools'], delta: { toolCallId: string; toolName: string }): RunState['tools'] {
  if (tools[delta.toolCallId]?.status === 'streaming') return tools
  return withEntries(tools, { [delta.toolCallId]: { toolCallId: delta.toolCallId, toolName: delta.toolName, status: 'streaming' } })
}

/** A finished message contains the complete arguments of its calls. */
export function withCallsOf(tools: RunState['tools'], message: AgentMessage): RunState['tools'] {
  if (message.role !== 'assistant') return tools
  let next: Record<string, ToolView> | undefined
  for (const block of message.content) {
    if (block.type !== 'toolCall') continue
    next ??= withEntries(tools)
    next[block.id] = { toolCallId: block.id, toolName: block.name, status: 'ready', args: block.arguments }
  }
  return next ?? tools
}

function blocksOf(message: AgentMessage, streamed: readonly BlockView[]): readonly BlockView[] {
  if (message.role === 'extension') return []
  return shownContent(message).map((block, index) => blockOf(block, streamed[index]))
}

function blockOf(block: Content, streamed: BlockView | undefined): BlockView {
  if (block.type === 'text') return { type: 'text', text: block.text, ...(block.citations && { citations: block.citations }) }
  if (block.type === 'thinking') {
    return streamed?.type === 'thinking' ? { ...streamed, text: block.thinking } : { type: 'thinking', text: block.thinking }
  }
  if (block.type !== 'toolCall') return block
  const argumentsText = block.invalidArguments ?? JSON.stringify(block.arguments)
  return { type: 'toolCall', toolCallId: block.id, toolName: block.name, argumentsText }
}

/**
 * Removes the failed responses from the loop `loopId` at the end of `messages`. The loop has retried, so the next response replaces them.
 */
export function withoutFailedAttempts(messages: readonly MessageView[], loopId: string | undefined): readonly MessageView[] {
  const kept = messages.findLastIndex((view) => loopId === undefined || !isFailedIn(view, loopId)) + 1
  return kept === messages.length ? messages : messages.slice(0, kept)
}

/** Returns whether `message` is a response that can replace a failed one. */
export const hasContent = (message: AgentMessage): boolean => message.role === 'assistant' && message.content.length > 0

/**
 * Updates `state` when the response `messageId` in the loop `loopId` has content. Moves notes of a dropped response to the previous
 * message, or to the response if there is none.
 */
function withNextAttempt(state: RunState, { loopId, messageId }: { loopId: string; messageId: string }): RunState {
  const messages = withoutFailedAttempts(state.messages, loopId)
  if (messages === state.messages) return state
  const removed = state.messages.slice(messages.length).map(({ id }) => id)
  const afterMessageId = messages.at(-1)?.id ?? messageId
  const notes = state.notes.map((note) => (removed.includes(note.afterMessageId ?? '') ? { ...note, afterMessageId } : note))
  return { ...state, messages, notes }
}

function isFailedIn({ message }: MessageView, loopId: string): boolean {
  return message?.role === 'assistant' && message.stopReason === 'error' && loopIdOf(message) === loopId
}
