import { type Chat, messageOf, type ToolPart } from '../../src/store.ts'

/** Returns the tool call that the attributes `message` and `index` point to. */
export function callOf(element: Element, chat: Chat): ToolPart | undefined {
  const message = messageOf(chat.getSnapshot(), element.getAttribute('message') ?? '')
  const part = message?.parts[Number(element.getAttribute('index'))]
  return part?.type === 'tool' ? part : undefined
}
