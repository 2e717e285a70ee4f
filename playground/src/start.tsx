import { effect } from '@preact/signals'
import { render } from 'preact'
import { App } from './app.tsx'
import { play } from './demo/play.ts'
import type { EarlyInput } from './early-input.ts'
import { loadLateParts } from './late/conversation-parts.tsx'
import { areWordsAlone, endFirstWords, expectWordsAlone } from './late/first-words.ts'
import { openBackend } from './settings/placed-backend.ts'
import { tellOfChanges } from './settings/unapplied.ts'
import { createAppState } from './state/app/app-state.ts'
import type { Conversation } from './state/conversation/conversation.ts'

/** Maximum milliseconds that loading waits for the first words of a response. */
const patience = 2000

/**
 * Renders the page in `root` with the conversation in its URL, and handles the early input. A text-only scenario starts before the stored
 * conversations are known. Resolves when the rest of the page may load.
 */
export async function start(root: HTMLElement, early: EarlyInput): Promise<void> {
  if (early.picked === undefined) endFirstWords()
  else if (early.picked.isWords) expectWordsAlone()
  const appState = await createAppState(openBackend)
  const settling = areWordsAlone() ? undefined : appState.settle()
  const conversation = appState.current.value
  tellOfChanges(appState.notices)
  // An existing conversation is rendered completely, so that nothing moves because a part loads later.
  if (conversation.state.value.messages.length > 0) await loadLateParts()
  await early.released()
  early.end()
  render(<App appState={appState} dialog={early.wantsCommands ? 'palette' : undefined} />, root)
  if (early.picked !== undefined) {
    play(appState, conversation, early.picked)
    await wordsOf(conversation)
    endFirstWords()
  }
  await (settling ?? appState.settle())
}

/** Resolves when part of a response is visible, or when something is shown that needs more than text. */
function wordsOf({ state, race }: Conversation): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      const { live, retry, status } = state.value
      const isOver = status !== 'idle' && status !== 'running'
      if (live?.blocks.length || retry !== undefined || race.value !== undefined || isOver) end()
    })
    const timer = setTimeout(end, patience)
    function end(): void {
      clearTimeout(timer)
      queueMicrotask(() => stop())
      resolve()
    }
  })
}
