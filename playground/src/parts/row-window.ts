import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** Rows beyond the edges that are rendered in advance. */
const overscan = 12

/** Which rows of a long list are near enough to be seen; all have the same height. Thousands of rows cost as much as fifty. */
export interface RowWindow {
  from: number
  to: number
  /** Pixels of the rows that are left out. */
  before: number
  after: number
  onScroll: () => void
  /** Brings a row into sight. */
  reveal: (row: number) => void
}

/** `isFollowing`: the newest row stays visible until the user scrolls away. */
export function useRowWindow(box: RefObject<HTMLElement | null>, count: number, rowHeight: number, isFollowing: boolean): RowWindow {
  const place = useSignal({ top: 0, height: 600 })
  const isAtEnd = useSignal(true)

  function look(): void {
    const element = box.current
    if (element === null) return
    const { scrollTop: top, clientHeight: height, scrollHeight } = element
    isAtEnd.value = scrollHeight - top - height < rowHeight
    if (top !== place.value.top || height !== place.value.height) place.value = { top, height }
  }

  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    if (!isFollowing || !isAtEnd.value) {
      look()
      return
    }
    // Nothing is read here: that would lay out the page once more in every frame.
    element.scrollTop = count * rowHeight + rowHeight
    const { height } = place.value
    place.value = { top: Math.max(0, count * rowHeight - height), height }
  }, [count, isFollowing])

  useLayoutEffect(() => {
    if (box.current === null) return
    const observer = new ResizeObserver(look)
    observer.observe(box.current)
    return () => observer.disconnect()
    // An empty list has no box.
  }, [count === 0])

  const { top, height } = place.value
  const from = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - overscan)
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + overscan)
  return {
    from,
    to,
    before: from * rowHeight,
    after: Math.max(0, count - to) * rowHeight,
    onScroll: look,
    reveal(row) {
      const element = box.current
      if (element === null) return
      const at = row * rowHeight
      if (at < element.scrollTop) element.scrollTop = at
      else if (at + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = at + rowHeight - element.clientHeight
    },
  }
}
