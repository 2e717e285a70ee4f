import { join } from 'node:path'
import type { SessionUpdate, ToolCall, ToolCallContent, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk'
import type { AgentEvent, AgentMessage, JsonObject, ToolResult } from '../../../../src/index.ts'
import { textOf } from '../../../../src/index.ts'
import type { ProposedChange } from '../changes/proposed-change.ts'
import { subjectOf } from '../render/call-lines.ts'

/** Maximum characters of a result sent to an editor. */
const longestResult = 100_000

const kinds: Readonly<Record<string, ToolKind>> = {
  bash: 'execute',
  read_file: 'read',
  list_files: 'read',
  search: 'search',
  write_file: 'edit',
  edit_file: 'edit',
}

/** Converts a call for the editor. */
export function toolCallOf(
  toolCallId: string,
  toolName: string,
  args: JsonObject,
  root: string,
): Pick<ToolCall, 'toolCallId' | 'title' | 'kind' | 'rawInput' | 'locations'> {
  const subject = subjectOf(args)
  return {
    toolCallId,
    title: subject === '{}' ? toolName : `${toolName} ${subject}`.slice(0, 500),
    kind: kinds[toolName] ?? 'other',
    rawInput: args,
    ...(typeof args.path === 'string' && toolName in kinds && { locations: [{ path: join(root, args.path) }] }),
  }
}

/** Converts a file change for the editor. */
export function diffOf({ path, before, after }: ProposedChange, root: string): ToolCallContent {
  return { type: 'diff', path: join(root, path), oldText: before ?? null, newText: after }
}

/** Converts an event to editor updates, if any. `changes` contains the file changes by call. */
export function updatesOf(event: AgentEvent, root: string, changes: ReadonlyMap<string, ProposedChange>): SessionUpdate[] {
  if (event.type === 'messageUpdate') {
    const { delta, messageId } = event
    if (delta.type === 'text') return [{ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: delta.delta } }]
    return delta.type === 'thinking'
      ? [{ sessionUpdate: 'agent_thought_chunk', messageId, content: { type: 'text', text: delta.delta } }]
      : []
  }
  if (event.type === 'toolExecutionStart') {
    const { toolCallId, toolName, args } = event
    const change = changes.get(toolCallId)
    const content = change === undefined ? {} : { content: [diffOf(change, root)] }
    return [{ sessionUpdate: 'tool_call', status: 'in_progress', ...toolCallOf(toolCallId, toolName, args, root), ...content }]
  }
  if (event.type === 'toolExecutionUpdate') return [inProgress(event.toolCallId, textOf(event.partialResult.content))]
  if (event.type === 'progressMessage') return [inProgress(event.toolCallId, event.text)]
  if (event.type === 'toolExecutionEnd') {
    const { toolCallId, isError, result } = event
    const change = changes.get(toolCallId)
    return [
      {
        sessionUpdate: 'tool_call_update',
        ...ended(toolCallId, isError, result, isError || change === undefined ? [] : [diffOf(change, root)]),
      },
    ]
  }
  return []
}

function inProgress(toolCallId: string, text: string): SessionUpdate {
  return { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', content: [textContent(text)] }
}

function ended(toolCallId: string, isError: boolean, { content }: Pick<ToolResult, 'content'>, before: ToolCallContent[]): ToolCallUpdate {
  const text = textOf(content)
  return {
    toolCallId,
    status: isError ? 'failed' : 'completed',
    content: [...before, ...(text === '' ? [] : [textContent(text)])],
  }
}

const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text: text.slice(0, longestResult) } })

/** Converts a history to editor updates. */
export function pastUpdates(messages: readonly AgentMessage[], root: string): SessionUpdate[] {
  return messages.flatMap((message): SessionUpdate[] => {
    if (message.role === 'user')
      return [{ sessionUpdate: 'user_message_chunk', messageId: message.id, content: { type: 'text', text: textOf(message.content) } }]
    if (message.role === 'toolResult')
      return [{ sessionUpdate: 'tool_call_update', ...ended(message.toolCallId, message.isError, message, []) }]
    if (message.role !== 'assistant') return []
    return message.content.flatMap((block): SessionUpdate[] => {
      if (block.type === 'text')
        return [{ sessionUpdate: 'agent_message_chunk', messageId: message.id, content: { type: 'text', text: block.text } }]
      if (block.type !== 'toolCall') return []
      return [{ sessionUpdate: 'tool_call', status: 'in_progress', ...toolCallOf(block.id, block.name, block.arguments, root) }]
    })
  })
}
