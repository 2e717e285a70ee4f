export { escapeControls, escapeInvisible } from './base/text/characters.ts'
export { type Source, sourcesOf } from './contract/message/sources.ts'
export { goesBack } from './contract/run/run-facts.ts'
export { type Chat, type ChatSource, type CreateChatOptions, chatOf, createChat } from './store/chat/chat.ts'
export type { ChatData, ChatError, ChatMessage, ChatPart, ChatState, QueuedMessage, ToolPart } from './store/chat/chat-state.ts'
export { messageOf } from './store/chat/show.ts'
export { taken } from './store/chat/talk.ts'
export { reduce } from './store/reduce.ts'
export { childOf } from './store/reduce-child.ts'
export { restoredState, rewoundState } from './store/restored-state.ts'
export { smoothText, type TextSmoothing } from './store/smooth/smooth-text.ts'
export {
  allMessages,
  type BackgroundTaskView,
  type BlockView,
  type CompactionNote,
  initialState,
  type MessageView,
  type NoteView,
  type PruneNote,
  type RetryView,
  type RevertNote,
  type RunState,
  type ToolStatus,
  type ToolView,
  type TurnView,
} from './store/state.ts'
export { createStore, type Store, type StoreOptions } from './store/store.ts'
export type { ToolTypes } from './types/tool/typed-tool.ts'
