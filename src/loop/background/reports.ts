import { toMessage } from '../../contract/message/history.ts'
import { type AgentMessage, text, userMessage, withId } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { OpenBackground } from '../../types/tool/open-calls.ts'
import type { BackgroundTask } from '../../types/tool/tool.ts'

/** Returns the immediate result of a call that started a background task. */
export function startedResult({ backgroundId, task }: { backgroundId: string; task: BackgroundTask }): ToolResult {
  const words = `Started in the background as "${backgroundId}". Continue with other work: its report arrives as a separate message when it ends.`
  return { content: [text(words)], details: { backgroundId, task: task.task } }
}

/** Returns a finished task's report for the model. Marks the text as a report, because it is a user message without user input. */
export function reportOf(
  { backgroundId, call }: { backgroundId: string; call: { name: string } },
  { content, isError }: ToolResult,
): AgentMessage {
  const outcome = isError === true ? 'failed' : 'ended'
  return marked(
    backgroundId,
    call.name,
    `"${backgroundId}" has ${outcome}. What follows is its output, not the words of the user:`,
    content,
  )
}

/** Returns the report of an interrupted task whose outcome is unknown. */
export function cutOffReport({ backgroundId, toolName }: OpenBackground): AgentMessage {
  const words = `"${backgroundId}" was cut off: its process ended, or the conversation continued without it. The outcome is unknown: it may have had its effect, a part of it, or none. Check before you repeat it.`
  return marked(backgroundId, toolName, words, [])
}

/** Returns the report that an earlier run stored, or `undefined` if none is stored or the stored value is invalid. */
export function keptReport({ kept, backgroundId, toolName }: OpenBackground): AgentMessage | undefined {
  if (kept === undefined) return undefined
  try {
    const message = toMessage(Object(kept), keptPlace)
    return message.role === 'user' ? withId({ ...message, provenanceHint: { kind: 'background', backgroundId, toolName } }) : undefined
  } catch {
    return undefined
  }
}

const keptPlace = 'a kept report'

function marked(backgroundId: string, toolName: string, words: string, content: ToolResult['content']): AgentMessage {
  const message = userMessage(`[Background: ${words}]${content.length === 0 ? '' : '\n\n'}`)
  const provenanceHint = { kind: 'background' as const, backgroundId, toolName }
  return withId({ ...message, content: [...message.content, ...content], provenanceHint })
}
