import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { firstWords } from './first-words.ts'
import { latePart } from './late-part.ts'
import { LoadFailure } from './load-failure.tsx'

/** A component whose code loads when it is first rendered, or earlier. */
export interface LazyComponent<Props> extends FunctionComponent<Props> {
  /** Preloads the code. Resolves with whether it succeeded. If not, loading is retried when the component is rendered. */
  load(): Promise<boolean>
}

/** A component's placeholder while it loads. */
export interface LazyPlace<Props> {
  waiting?: ComponentChildren
  /** The wrapper around the component or its error, which reserves the space. */
  frame?: (content: ComponentChildren, props: Props) => ComponentChildren
}

/** Creates a component that loads after the first words of a response. On failure it shows an error and offers to reload the page. */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  { waiting = <p class="nothing">Loading…</p>, frame = (content) => content }: LazyPlace<Props> = {},
): LazyComponent<Props> {
  const loaded = signal<FunctionComponent<Props> | undefined>(undefined)
  const part = latePart(async () => {
    await firstWords
    return load()
  })

  async function begin(): Promise<boolean> {
    try {
      loaded.value = await part.load()
      return true
    } catch {
      return false
    }
  }

  function Lazy(props: Props) {
    const hasFailed = useSignal(false)
    useEffect(() => {
      void begin().then((isThere) => {
        hasFailed.value = !isThere
      })
    }, [])
    const Component = loaded.value
    if (Component !== undefined) return <Component {...props} />
    return <>{frame(hasFailed.value ? <LoadFailure /> : waiting, props)}</>
  }
  return Object.assign(Lazy, { load: begin })
}
