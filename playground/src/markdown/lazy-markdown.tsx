import { signal } from '@preact/signals'
import { firstWords } from '../late/first-words.ts'
import type { Markdown } from './markdown.tsx'
import { withoutMarks } from './marks.ts'

/** The parser loads after the first paint. Until then, text is shown as it is. */
const loaded = signal<typeof Markdown | undefined>(undefined)
let isLoading = false

/** Preloads the parser, so that the first response does not wait for it. */
export function loadMarkdown(): void {
  if (isLoading) return
  isLoading = true
  firstWords
    .then(() => import('./markdown.tsx'))
    .then(
      (module) => {
        loaded.value = module.Markdown
      },
      () => {
        isLoading = false
      },
    )
}

export function LazyMarkdown(props: { text: string; isGrowing: boolean }) {
  loadMarkdown()
  const Loaded = loaded.value
  return Loaded === undefined ? <p class="text plain">{withoutMarks(props.text)}</p> : <Loaded {...props} />
}
