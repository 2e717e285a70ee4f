import { effect } from '@preact/signals'
import type { AppState } from '../state/app/app-state.ts'
import type { Activity } from '../state/app/open-conversations.ts'

/** What the tab shows before its name, the most urgent of all conversations first. */
const signs: readonly (readonly [Activity['kind'], string])[] = [
  ['needsYou', '(!)'],
  ['running', '…'],
  ['notDone', '×'],
  ['done', '•'],
]

/** Has the tab say what its conversations do: a person who looks elsewhere sees it. Gives back how to stop. */
export function nameTab({ activity }: AppState): () => void {
  return effect(() => {
    const doing = [...activity.value.values()]
    const marks = signs.flatMap(([kind, sign]) =>
      doing.filter((each) => each.kind === kind).map(({ word }) => `${sign} ${word.toLowerCase()}`),
    )
    document.title = [...marks.slice(0, 1), 'phi playground'].join(' · ')
  })
}
