import type { AppState } from '../state/app/app-state.ts'
import type { Conversation } from '../state/conversation/conversation.ts'

/** A tab's properties. */
export interface TabProps {
  appState: AppState
  conversation: Conversation
}
