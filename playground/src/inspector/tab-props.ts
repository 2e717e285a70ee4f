import type { Desk } from '../state/desk.ts'
import type { Conversation } from '../state/session.ts'

/** What a tab needs. */
export interface TabProps {
  desk: Desk
  conversation: Conversation
}
