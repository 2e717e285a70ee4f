import { PhiChatElement } from './phi-chat.ts'
import { PhiComposerElement } from './phi-composer.ts'
import { PhiMessageElement } from './phi-message.ts'
import { PhiApprovalElement, PhiToolElement } from './phi-tool.ts'

/** `phi-chat` comes first: the other elements look for it when they connect. */
export const elements = {
  'phi-chat': PhiChatElement,
  'phi-message': PhiMessageElement,
  'phi-tool': PhiToolElement,
  'phi-approval': PhiApprovalElement,
  'phi-composer': PhiComposerElement,
}

/** Registers elements by name, except those that are registered. Does nothing during server rendering. */
export function register(named: Readonly<Record<string, CustomElementConstructor>>): void {
  const registry = globalThis.customElements
  if (registry === undefined) return
  for (const [name, element] of Object.entries(named)) if (registry.get(name) === undefined) registry.define(name, element)
}
