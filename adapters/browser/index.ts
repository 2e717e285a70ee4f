/**
 * Browser features: sessions in IndexedDB, files in the origin private file system, models in the browser, and WebMCP tools.
 *
 * @example
 * ```ts
 * const store = indexedDbSessionStore({ onTakenOver: () => alert('This conversation continues in another tab.') })
 * const agent = new Agent({ model, session: store })
 * ```
 */

export { type ModelContextLike, webMcpClient } from '../../src/mcp/web-mcp-client.ts'
export {
  availability,
  type BrowserAi,
  type BrowserModelAvailability,
  type ChromeAiOptions,
  chromeAi,
} from '../../src/providers/chrome-ai/index.ts'
export { type ChatEngine, type WebLlmOptions, webLlm } from '../../src/providers/web-llm/index.ts'
export { type IndexedDbSessionOptions, type IndexedDbSessionStore, indexedDbSessionStore } from './indexed-db/indexed-db-session-store.ts'
export { opfsWorkspace } from './opfs/opfs-workspace.ts'
