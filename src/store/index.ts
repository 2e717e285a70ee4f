export { escapeControls, escapeInvisible } from '../base/text/escape-controls.ts'
export { type Source, sourcesOf } from '../contract/message/sources.ts'
export { goesBack } from '../contract/run/run-facts.ts'
export { reduce } from './reduce.ts'
export { childOf } from './reduce-child.ts'
export { restoredState } from './restored-state.ts'
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
