import { effect } from '@preact/signals'
import type { Desk } from '../state/desk/desk.ts'
import type { Activity } from '../state/desk/open-conversations.ts'

/** What the tab says before its name, the most urgent of all conversations first. */
const marks: readonly (readonly [Activity, string])[] = [
  ['needsYou', '(!) needs you'],
  ['running', '… running'],
  ['failed', '× failed'],
  ['answered', '• answered'],
]

/** Has the tab say what its conversations do: a person who looks elsewhere sees it. Gives back how to stop. */
export function nameTab({ activity }: Desk): () => void {
  return effect(() => {
    const doing = [...activity.value.values()]
    const [, mark] = marks.find(([kind]) => doing.includes(kind)) ?? []
    document.title = mark === undefined ? 'phi playground' : `${mark} · phi playground`
  })
}
