import type { AppState } from '../state/app/app-state.ts'
import type { Conversation } from '../state/conversation/conversation.ts'
import type { Scenario } from './scenario.ts'

/** Sends a prompt that the scripted model can respond to, with its files. */
export function play(appState: AppState, conversation: Conversation, { prompt, files, isRace }: Scenario): void {
  if (isRace) appState.race(prompt)
  else void send(appState, conversation, prompt, files)
}

async function send({ notices }: AppState, conversation: Conversation, prompt: string, files: Scenario['files']): Promise<void> {
  const { sessionId } = conversation
  const attempt = { topic: 'send', failure: 'The files of this scenario are missing', sessionId }
  const found = await notices.attempt(attempt, async () => (await files?.()) ?? [])
  if (found !== undefined) await conversation.send(prompt, found)
}
