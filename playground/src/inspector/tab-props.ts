import type { AppState } from '../state/app/app-state.ts'
import type { Conversation } from '../state/conversation/conversation.ts'

/** Properties of a tab. */
export interface TabProps {
  appState: AppState
  conversation: Conversation
}
