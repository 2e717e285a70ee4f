import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { whenIdle } from '../late/idle.ts'

interface Absent {
  /** The scroll container, and the spacers for messages that are not rendered. */
  box: RefObject<HTMLElement | null>
  /** The ids of all messages. Those in `[from, to)` are rendered. */
  ids: readonly string[]
  from: number
  to: number
  textOf: (id: string) => string
  /** Called when the browser's search finds a message that is not rendered. */
  onFound: (id: string) => void
}

/**
 * Lets the browser's search (Ctrl+F) find messages that are not rendered. Their text is in the spacers, hidden until it is found. Browsers
 * without `hidden="until-found"` find only rendered messages.
 */
export function useFindable({ box, ids, from, to, textOf, onFound }: Absent): void {
  const texts = useRef(new Map<string, HTMLElement>()).current
  const latest = useRef(onFound)
  latest.current = onFound

  function textNode(id: string): HTMLElement {
    const known = texts.get(id)
    if (known !== undefined) return known
    const made = document.createElement('div')
    made.dataset.found = id
    made.textContent = textOf(id)
    texts.set(id, made)
    return made
  }

  function put(room: HTMLElement | null, absent: readonly string[]): void {
    if (room === null) return
    const all = room.firstElementChild ?? room.appendChild(document.createElement('div'))
    const nodes = absent.map(textNode)
    // The browser reveals the match and its ancestors. While the whole container is hidden, thousands of messages do not slow down frames.
    for (const node of [all, ...nodes]) if (!node.hasAttribute('hidden')) node.setAttribute('hidden', 'until-found')
    all.replaceChildren(...nodes)
  }

  useEffect(() => {
    const element = box.current
    if (element === null || !('onbeforematch' in element)) return
    const onMatch = ({ target }: Event) => {
      const id = target instanceof HTMLElement ? target.dataset.found : undefined
      if (id !== undefined) latest.current(id)
    }
    element.addEventListener('beforematch', onMatch)
    return () => element.removeEventListener('beforematch', onMatch)
  }, [])

  useEffect(
    () =>
      whenIdle(() => {
        const element = box.current
        if (element === null || !('onbeforematch' in element)) return
        const [before, after] = [ids.slice(0, from), ids.slice(to)]
        const absent = new Set([...before, ...after])
        for (const id of texts.keys()) if (!absent.has(id)) texts.delete(id)
        put(element.querySelector<HTMLElement>('.room-before'), before)
        put(element.querySelector<HTMLElement>('.room-after'), after)
      }),
    [ids, from, to],
  )
}
