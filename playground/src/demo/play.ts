import type { Desk } from '../state/desk.ts'
import type { Conversation } from '../state/session.ts'
import type { Scenario } from './scenario.ts'

/** Asks what the scripted model has an answer for, with the files that belong to it. */
export function play(desk: Desk, conversation: Conversation, { prompt, files, isRace }: Scenario): void {
  if (isRace) desk.race(prompt)
  else if (files === undefined) conversation.send(prompt)
  else files().then((found) => conversation.send(prompt, found), desk.warn)
}
