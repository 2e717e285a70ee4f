import { PhiChatElement } from './phi-chat.ts'
import { PhiComposerElement } from './phi-composer.ts'
import { PhiMessageElement } from './phi-message.ts'
import { PhiApprovalElement, PhiToolElement } from './phi-tool.ts'

/** The elements look for the first of them around themselves: it is there before they are. */
const elements = {
  'phi-chat': PhiChatElement,
  'phi-message': PhiMessageElement,
  'phi-tool': PhiToolElement,
  'phi-approval': PhiApprovalElement,
  'phi-composer': PhiComposerElement,
}

/**
 * Gives the page the elements `<phi-chat>`, `<phi-message>`, `<phi-tool>`, `<phi-approval>` and `<phi-composer>`. They have no styles. Does nothing on a server, nor a
 * second time.
 *
 * Source: docs/guides/frameworks.md
 */
export function defineElements(): void {
  const registry = globalThis.customElements
  if (registry === undefined) return
  for (const [name, element] of Object.entries(elements)) if (registry.get(name) === undefined) registry.define(name, element)
}

export type { PhiChat, Words } from './phi-chat-options.ts'
