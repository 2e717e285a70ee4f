/** Stored conversations: the memory store, the rule for ids, and messages as JSON text. */
export { memorySessionStore } from './memory-session-store.ts'
export { parseMessages, serializeMessages } from './message-json.ts'
export { assertSessionId } from './session-id.ts'
