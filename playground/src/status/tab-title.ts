import { effect } from '@preact/signals'
import type { AppState } from '../state/app/app-state.ts'
import type { Activity } from '../state/app/open-conversations.ts'

/** Prefixes for the tab title, most urgent first. */
const signs: readonly (readonly [Activity['kind'], string])[] = [
  ['needsYou', '(!)'],
  ['running', '…'],
  ['notDone', '×'],
  ['done', '•'],
]

/** Shows the status of conversations in the tab title. Returns a function that stops it. */
export function nameTab({ activity }: AppState): () => void {
  return effect(() => {
    const doing = [...activity.value.values()]
    const marks = signs.flatMap(([kind, sign]) =>
      doing.filter((each) => each.kind === kind).map(({ word }) => `${sign} ${word.toLowerCase()}`),
    )
    document.title = [...marks.slice(0, 1), 'phi playground'].join(' · ')
  })
}
