import type { AppState } from '../state/app/app-state.ts'
import type { Conversation } from '../state/conversation/conversation.ts'

/** What a tab needs. */
export interface TabProps {
  appState: AppState
  conversation: Conversation
}
