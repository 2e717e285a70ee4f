import { PhiMcpAppElement } from './phi-mcp-app.ts'
import { elements, register } from './register.ts'

/**
 * Registers the custom elements `<phi-chat>`, `<phi-message>`, `<phi-tool>`, `<phi-approval>`, `<phi-mcp-app>` and `<phi-composer>`.
 *
 * **Contract**
 * - The elements have no styles.
 * - Does nothing during server rendering, or if the elements are already registered.
 *
 * Source: docs/guides/frameworks.md
 */
export function defineElements(): void {
  register({ ...elements, 'phi-mcp-app': PhiMcpAppElement })
}

export type { PhiChat, Words } from './phi-chat-options.ts'
