export { escapeControls, escapeInvisible } from '../base/text/characters.ts'
export { type Source, sourcesOf } from '../contract/message/sources.ts'
export { goesBack } from '../contract/run/run-facts.ts'
export type { ToolTypes, ToolTypesByName } from '../types/tool/typed-tool.ts'
export { type Chat, type ChatSource, type CreateChatOptions, chatOf, createChat, type WithTools } from './chat/chat.ts'
export type { ChatActions, ChatBranch, ChatError, ChatMessage, ChatPart, ChatState, QueuedMessage, ToolPart } from './chat/chat-state.ts'
export { messageOf } from './chat/show.ts'
export { taken } from './chat/talk.ts'
export { reduce } from './reduce.ts'
export { childOf } from './reduce-child.ts'
export { restoredState, rewoundState } from './restored-state.ts'
export {
  allMessages,
  type BackgroundTaskView,
  type BlockView,
  type BranchesView,
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
} from './state.ts'
export { createStore, type Store, type StoreOptions } from './store.ts'
