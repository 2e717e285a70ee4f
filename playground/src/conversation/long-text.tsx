import { useSignal } from '@preact/signals'
import { count } from '../parts/figures.ts'

/** Texts with more characters than `foldedFrom` are folded to their first `shownLength` characters. */
const foldedFrom = 2400
const shownLength = 1200

/** A user message as typed. A long message is folded. */
export function LongText({ text }: { text: string }) {
  const isOpen = useSignal(false)
  if (text.length <= foldedFrom) return <p class="text plain">{text}</p>
  return (
    <>
      <p class="text plain">{isOpen.value ? text : `${text.slice(0, shownLength)}…`}</p>
      <button type="button" class="link" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        {isOpen.value ? 'Show less' : `Show all ${count(text.length)} characters`}
      </button>
    </>
  )
}
