import { signal } from '@preact/signals'
import type { McpAppServer } from '../../../adapters/mcp/apps/index.ts'
import type { McpToolSet } from '../../../adapters/mcp/index.ts'

/** Tool sets from the connected servers. */
export const connectedSets = signal<readonly McpToolSet[]>([])

/** Returns the app of a tool; `undefined` if it has none, or if its server is not connected. */
export function appOf(toolName: string): McpAppServer | undefined {
  for (const set of connectedSets.value) {
    const app = set.app(toolName)
    if (app !== undefined) return app
  }
  return undefined
}
