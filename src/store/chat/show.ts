import { parsedJson } from '../../base/json/json-value.ts'
import type { JsonValue } from '../../contract/json.ts'
import { textOf } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import { childOf } from '../reduce-child.ts'
import type { BlockView, MessageView, RunState } from '../state.ts'
import type { ChatMessage, ChatPart, ChatState, ToolPart } from './chat-state.ts'

type CallBlock = Extract<BlockView, { type: 'toolCall' }>

/** Converts a state's messages to the form that the UI renders. */
export type Shown = Pick<ChatState, 'messages' | 'messageIds'>

/**
 * Merges each tool call with its result. Unchanged parts keep their identity, so that a delta replaces only one part, its message and the
 * list.
 */
export class Show {
  /** Parts cached by block and tool view, which are replaced when they change. */
  readonly #parts = new WeakMap<CallBlock, { seen: readonly unknown[]; part: ToolPart }>()
  readonly #messages = new WeakMap<MessageView, ChatMessage>()
  #seen: readonly unknown[] = []
  #settled: readonly ChatMessage[] = []
  #shown: Shown = { messages: [], messageIds: [] }
  #listed: { settled: Shown['messages']; liveId: string | undefined } = { settled: this.#settled, liveId: undefined }

  of(run: RunState): Shown {
    const seen = [run.messages, run.tools, run.children, run.approvals, run.inputs]
    if (!isSame(seen, this.#seen)) {
      this.#settled = run.messages.flatMap((view) => (view.role === 'toolResult' ? [] : this.#message(view, view.role, run)))
      this.#seen = seen
    }
    const live = run.live !== undefined && run.live.role !== 'toolResult' ? this.#message(run.live, run.live.role, run) : undefined
    const messages = live === undefined ? this.#settled : [...this.#settled, live]
    this.#shown = { messages, messageIds: this.#idsOf(messages, live?.id) }
    return this.#shown
  }

  /** Returns the previous list if unchanged. Does not compare a streaming message. */
  #idsOf(messages: Shown['messages'], liveId: string | undefined): readonly string[] {
    const before = this.#shown.messageIds
    const isGrowing = this.#listed.settled === this.#settled && this.#listed.liveId === liveId
    this.#listed = { settled: this.#settled, liveId }
    const isSameList = isGrowing || (messages.length === before.length && messages.every(({ id }, at) => id === before[at]))
    return isSameList ? before : messages.map(({ id }) => id)
  }

  #message(view: MessageView, role: ChatMessage['role'], run: RunState): ChatMessage {
    const parts = view.blocks.map((block) => (block.type === 'toolCall' ? this.#call(block, run) : block))
    const known = this.#messages.get(view)
    if (known !== undefined && isSame(parts, known.parts)) return known
    const { blocks: _blocks, ...rest } = view
    const message: ChatMessage = { ...rest, role, parts }
    this.#messages.set(view, message)
    return message
  }

  #call(block: CallBlock, run: RunState): ChatPart {
    const { toolCallId } = block
    const tool = run.tools[toolCallId]
    const approval = run.approvals.find((each) => each.toolCallId === toolCallId && each.subAgent === undefined)
    const question = run.inputs.find((each) => each.toolCallId === toolCallId && each.subAgent === undefined)
    const child = childOf(run, toolCallId)
    const seen = [tool, approval, question, child]
    const known = this.#parts.get(block)
    if (known !== undefined && isSame(seen, known.seen)) return known.part
    const result = tool?.result ?? tool?.partialResult
    const output = tool?.status === 'done' ? outputOf(tool.result) : undefined
    const part: ToolPart = {
      ...{ type: 'tool', toolCallId, toolName: block.toolName, status: tool?.status ?? 'ready', inputText: block.argumentsText },
      ...(tool?.args !== undefined && { input: tool.args }),
      ...(output !== undefined && { output }),
      ...(result !== undefined && { result }),
      ...(tool?.progress !== undefined && { progress: tool.progress }),
      ...(tool?.reason !== undefined && { reason: tool.reason }),
      ...(tool?.durationMs !== undefined && { durationMs: tool.durationMs }),
      ...(approval !== undefined && { approval }),
      ...(question !== undefined && { question }),
      ...(child !== undefined && { child }),
    }
    this.#parts.set(block, { seen, part })
    return part
  }
}

/** Message indexes by id, cached per list. */
const places = new WeakMap<readonly string[], ReadonlyMap<string, number>>()

/** Returns the message with this id in constant time. The object is replaced only when the message changes, so components can select it. */
export function messageOf<State extends Pick<ChatState, 'messageIds'> & { messages: readonly unknown[] }>(
  { messages, messageIds }: State,
  id: string,
): State['messages'][number] | undefined {
  let found = places.get(messageIds)
  if (found === undefined) {
    found = new Map(messageIds.map((each, at) => [each, at]))
    places.set(messageIds, found)
  }
  return messages[found.get(id) ?? -1]
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((each, at) => each === others[at])
}

/** Stored results have no `details`, so their JSON is parsed from the text. */
function outputOf(result: ToolResult | undefined): JsonValue | undefined {
  if (result === undefined || result.details !== undefined) return result?.details
  const text = textOf(result.content)
  if (!/^\s*[[{]/.test(text)) return text
  return (parsedJson(text) as JsonValue | undefined) ?? text // parsed from JSON
}
