import { useSignal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'

/** A component that is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined
  return function Lazy(props: Props) {
    const isThere = useSignal(loaded !== undefined)
    useEffect(() => {
      if (loaded !== undefined) return
      load().then(
        (component) => {
          loaded = component
          isThere.value = true
        },
        () => undefined,
      )
    }, [])
    const Component = loaded
    return isThere.value && Component !== undefined ? <Component {...props} /> : <p class="nothing">Loading…</p>
  }
}
