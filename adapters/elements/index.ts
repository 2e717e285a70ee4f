import { PhiChatElement } from './phi-chat.ts'
import { PhiComposerElement } from './phi-composer.ts'
import { PhiMessageElement } from './phi-message.ts'
import { PhiApprovalElement, PhiToolElement } from './phi-tool.ts'

/** `phi-chat` comes first: the other elements look for it when they connect. */
const elements = {
  'phi-chat': PhiChatElement,
  'phi-message': PhiMessageElement,
  'phi-tool': PhiToolElement,
  'phi-approval': PhiApprovalElement,
  'phi-composer': PhiComposerElement,
}

/**
 * Registers the custom elements `<phi-chat>`, `<phi-message>`, `<phi-tool>`, `<phi-approval>` and `<phi-composer>`.
 *
 * **Contract**
 * - The elements have no styles.
 * - Does nothing during server rendering, or if the elements are already registered.
 *
 * Source: docs/guides/frameworks.md
 */
export function defineElements(): void {
  const registry = globalThis.customElements
  if (registry === undefined) return
  for (const [name, element] of Object.entries(elements)) if (registry.get(name) === undefined) registry.define(name, element)
}

export type { PhiChat, Words } from './phi-chat-options.ts'
