import type { Content } from '../../contract/message/content.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'

/** Adds a delta to a message that streams, O(length of the delta). The arguments of a call are there when the message is complete. */
export function grow({ content }: AssistantMessage, delta: StreamDelta): void {
  // A block that is never streamed (an image, redacted thinking) leaves an empty text in its place until the message ends.
  while (content.length < delta.contentIndex) content.push({ type: 'text', text: '' })
  const block = content[delta.contentIndex]
  if (delta.type === 'text' && block?.type === 'text') block.text += delta.delta
  else if (delta.type === 'thinking' && block?.type === 'thinking') block.thinking += delta.delta
  else if (delta.type !== 'toolCallDelta' || block?.type !== 'toolCall') content[delta.contentIndex] = begun(delta)
}

function begun(delta: StreamDelta): Content {
  if (delta.type === 'text') return { type: 'text', text: delta.delta }
  if (delta.type === 'thinking') return { type: 'thinking', thinking: delta.delta }
  return { type: 'toolCall', id: delta.toolCallId, name: delta.toolName, arguments: {} }
}
