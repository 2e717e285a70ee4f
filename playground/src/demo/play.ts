import type { AppState } from '../state/app/app-state.ts'
import type { Conversation } from '../state/conversation/conversation.ts'
import type { Scenario } from './scenario.ts'

/** Asks what the scripted model has an answer for, with the files that belong to it. */
export function play(appState: AppState, conversation: Conversation, { prompt, files, isRace }: Scenario): void {
  if (isRace) appState.race(prompt)
  else void send(appState, conversation, prompt, files)
}

async function send({ notices }: AppState, conversation: Conversation, prompt: string, files: Scenario['files']): Promise<void> {
  const { sessionId } = conversation
  const attempt = { topic: 'send', failure: 'The files of this scenario are not there', sessionId }
  const found = await notices.attempt(attempt, async () => (await files?.()) ?? [])
  if (found !== undefined) await conversation.send(prompt, found)
}
