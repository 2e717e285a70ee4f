import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Rows beyond the edges that are rendered in advance. */
const overscan = 12

/** The rows in a long list that are near the viewport. All rows have the same height. Thousands of rows cost no more than fifty. */
export interface RowWindow {
  from: number
  to: number
  /** Height in pixels of the rows that are not rendered. */
  before: number
  after: number
  onScroll: () => void
  /** Scrolls a row into view. */
  reveal: (row: number) => void
}

/** With `isFollowing`, the newest row stays visible until the user scrolls away. */
export function useRowWindow(box: RefObject<HTMLElement | null>, count: number, rowHeight: number, isFollowing: boolean): RowWindow {
  const place = useSignal({ top: 0, height: 600 })
  const isAtEnd = useSignal(true)
  const revealed = useRef(-1)

  function look(): void {
    const element = box.current
    if (element === null) return
    // The revealed row stays in sight if the list shrinks, as it does when that row's detail opens.
    const before = place.value
    const at = revealed.current * rowHeight
    const isInSight = at >= before.top && at + rowHeight <= before.top + before.height
    if (isInSight && element.clientHeight !== before.height) bring(element, at)
    const { scrollTop: top, clientHeight: height, scrollHeight } = element
    isAtEnd.value = scrollHeight - top - height < rowHeight
    if (top !== before.top || height !== before.height) place.value = { top, height }
  }

  function bring(element: HTMLElement, at: number): void {
    if (at < element.scrollTop) element.scrollTop = at
    else if (at + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = at + rowHeight - element.clientHeight
  }

  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    if (!isFollowing || !isAtEnd.value) {
      look()
      return
    }
    // Read no layout property here, because that would cause another layout in every frame.
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
      bring(element, row * rowHeight)
      revealed.current = row
      place.value = { top: element.scrollTop, height: element.clientHeight }
    },
  }
}
