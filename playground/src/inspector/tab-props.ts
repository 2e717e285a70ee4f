import type { Conversation } from '../state/conversation/conversation.ts'
import type { Desk } from '../state/desk/desk.ts'

/** What a tab needs. */
export interface TabProps {
  desk: Desk
  conversation: Conversation
}
