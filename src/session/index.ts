/**
 * Stored conversations: the memory store, the rule for ids, and messages as JSON text.
 *
 * @example
 * ```ts
 * const saved = serializeMessages(agent.messages)
 * const restored = new Agent({ model, messages: parseMessages(saved) })
 * ```
 */
export { memorySessionStore } from './memory-session-store.ts'
export { parseMessages, serializeMessages } from './message-json.ts'
export { assertSessionId } from './session-id.ts'
export { parseSnapshot } from './snapshot.ts'
