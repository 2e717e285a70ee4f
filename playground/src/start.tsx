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

/** How long all else waits for the first words of an answer, in milliseconds. */
const patience = 2000

/**
 * Shows the page in `root`, with the conversation that its address names, and does what was asked for before. A scenario of words alone is played before it
 * is known what is stored. Resolves when the rest of the page may load.
 */
export async function start(root: HTMLElement, early: EarlyInput): Promise<void> {
  if (early.picked === undefined) endFirstWords()
  else if (early.picked.isWords) expectWordsAlone()
  const appState = await createAppState(openBackend)
  const settling = areWordsAlone() ? undefined : appState.settle()
  const conversation = appState.current.value
  tellOfChanges(appState.notices)
  // What was said before is shown as it is, at once: nothing in it moves because a part of it comes later.
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

/** Resolves when something of an answer is seen, or something else that needs more than words. */
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
