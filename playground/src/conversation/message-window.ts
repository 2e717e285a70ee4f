import type { ReadonlySignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks'

/** Conversations with at most this many messages are rendered completely. */
const fewest = 60
/** How far beyond both edges messages are rendered, in viewport heights. More are rendered when less than half of it is left. */
const margin = 1.5
/** Assumed message height in pixels until enough messages were measured. */
const guessedHeight = 160
/** Pixels between two messages, as in the style sheet. */
const gap = 12

/** The rendered part `[from, to)` of a list, and the space that the others take. */
export interface MessageWindow {
  from: number
  to: number
  /** Pixels. */
  before: number
  after: number
}

interface Windowed {
  /** The scroll container. */
  box: RefObject<HTMLElement | null>
  /** The parent of the messages, each with its id as `data-message`, between two spacer elements. */
  ids: readonly string[]
  isFollowing: ReadonlySignal<boolean>
  /** Index of a message that must be rendered. The window moves to it. */
  wanted: number
}

/**
 * Returns the messages of a long conversation that are near the viewport. Heights vary. An unmeasured message counts with the average
 * height, and the visible part does not move when the estimate was wrong.
 */
export function useMessageWindow({ box, ids, isFollowing, wanted }: Windowed): MessageWindow {
  /** The rendered messages. */
  const range = useRef({ from: Math.max(0, ids.length - fewest), to: ids.length })
  const [, redraw] = useReducer((times: number, _: undefined) => times + 1, 0)
  const heights = useRef(new Heights()).current
  /** Last measured positions of rendered messages by id, and the first visible one. */
  const seen = useRef<{ tops: Map<string, number>; first?: string | undefined; height: number }>({ tops: new Map(), height: 0 }).current
  // The browser scrolls on its own when the page becomes shorter.
  const scrolledTo = box.current?.scrollTop
  const lastWanted = useRef(-1)

  const isAll = ids.length <= fewest
  const shown = isAll ? { from: 0, to: ids.length } : isFollowing.value ? newest() : clamped(range.current, ids.length)
  if (!isAll && wanted !== lastWanted.current && wanted >= 0 && (wanted < shown.from || wanted >= shown.to))
    Object.assign(shown, { from: Math.max(0, wanted - fewest / 2), to: Math.min(ids.length, wanted + fewest / 2) })
  lastWanted.current = wanted
  range.current = shown

  /**
   * Returns the newest messages, for a reader who follows. They are few, because a tall streaming response causes a layout in every frame.
   */
  function newest(): { from: number; to: number } {
    const beginning = (share: number) => heights.beginning(ids, (1 + share) * seen.height)
    return { from: Math.max(beginning(margin), Math.min(range.current.from, beginning(margin / 2))), to: ids.length }
  }

  function noteFirst(scrollTop: number): void {
    const all = [...seen.tops]
    seen.first = (all.findLast(([, top]) => top <= scrollTop) ?? all[0])?.[0]
  }

  /** Measures rendered messages, and keeps the visible part in place. */
  function measure(scrollTop = box.current?.scrollTop ?? 0): void {
    const element = box.current
    if (element === null) return
    const { first = '', tops } = seen
    seen.tops = topsIn(element, heights)
    seen.height = element.clientHeight
    const [was, is] = [tops.get(first), seen.tops.get(first)]
    if (!isFollowing.value && was !== undefined && is !== undefined && is !== was) element.scrollTop = scrollTop + is - was
    noteFirst(element.scrollTop)
  }

  function onScroll(): void {
    const element = box.current
    if (element === null) return
    const { scrollTop: top, clientHeight: height } = element
    noteFirst(top)
    if (isAll || (isFollowing.value && shown.to === ids.length)) return
    const offsets = heights.offsets(ids)
    const isNear = (share: number) => ({ top: top - share * height, bottom: top + (1 + share) * height })
    const needed = reach(offsets, isNear(margin / 2))
    if (needed.from >= shown.from && needed.to <= shown.to) return
    const next = reach(offsets, isNear(margin))
    keepFocus(element, ids.slice(next.from, next.to))
    range.current = next
    redraw(undefined)
  }

  useLayoutEffect(() => measure(scrolledTo))
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  })
  useLayoutEffect(() => {
    const element = box.current
    if (element?.firstElementChild === null || element === null) return
    const observer = new ResizeObserver(() => measure())
    observer.observe(element.firstElementChild)
    return () => observer.disconnect()
  }, [])

  const offsets = heights.offsets(ids)
  const [end = 0, from = 0, to = 0] = [offsets[ids.length], offsets[shown.from], offsets[shown.to]]
  return { ...shown, before: from, after: end - to }
}

function clamped({ from, to }: { from: number; to: number }, count: number): { from: number; to: number } {
  return from < count ? { from, to: Math.min(to, count) } : { from: Math.max(0, count - fewest), to: count }
}

/** Measured message heights. */
class Heights {
  readonly #known = new Map<string, number>()
  #sum = 0
  #guess = guessedHeight
  /** Number of measured messages at the time of the estimate. */
  #guessedFrom = 5

  /** Cached start positions, and how many of them are valid. */
  #offsets = new Float64Array(1)
  #ids: readonly string[] = []
  #right = 0

  set(id: string, height: number): void {
    const before = this.#known.get(id)
    if (height === before) return
    this.#sum += height - (before ?? 0)
    this.#known.set(id, height)
    // Usually the last message grows.
    this.#right = Math.min(this.#right, Math.max(0, this.#ids.lastIndexOf(id)))
    // Updated rarely, because a new estimate for thousands of messages moves the whole page.
    if (this.#known.size < 2 * this.#guessedFrom) return
    this.#guessedFrom = this.#known.size
    this.#guess = this.#sum / this.#known.size
    this.#right = 0
  }

  /** Returns the start positions, and the end of the list. Read it before heights change, because it changes in place. */
  offsets(ids: readonly string[]): Float64Array {
    if (ids !== this.#ids) {
      this.#ids = ids
      this.#offsets = new Float64Array(ids.length + 1)
      this.#right = 0
    }
    const offsets = this.#offsets
    for (let at = this.#right; at < ids.length; at += 1)
      offsets[at + 1] = (offsets[at] ?? 0) + (this.#known.get(ids[at] ?? '') ?? this.#guess)
    this.#right = ids.length
    return offsets
  }

  /**
   * Returns the first of the newest messages that fill `pixels`, up to the maximum number. Unmeasured messages count as having no height.
   */
  beginning(ids: readonly string[], pixels: number): number {
    let from = ids.length
    let taken = 0
    // No heights are known before the first layout.
    const isKnown = pixels > 0
    while (from > 0 && ids.length - from < fewest && (!isKnown || taken < pixels)) {
      from -= 1
      taken += this.#known.get(ids[from] ?? '') ?? 0
    }
    return from
  }
}

/** Returns the messages that overlap the range from `top` to `bottom`. */
function reach(offsets: Float64Array, { top, bottom }: { top: number; bottom: number }): { from: number; to: number } {
  const count = offsets.length - 1
  const after = offsets.findIndex((offset) => offset > top)
  const from = after < 0 ? count : Math.max(0, after - 1)
  const beyond = offsets.findIndex((offset) => offset >= bottom)
  return { from: Math.min(from, Math.max(0, count - 1)), to: beyond < 0 ? count : Math.min(count, Math.max(beyond, from + 1)) }
}

/** Returns the positions of rendered messages, and records their heights. */
function topsIn(element: HTMLElement, heights: Heights): Map<string, number> {
  // Not a `querySelectorAll`, which would also traverse the texts of messages that are not rendered.
  const children = [...(element.firstElementChild?.children ?? [])].filter((child) => child instanceof HTMLElement)
  const all = children.filter(({ dataset }) => dataset.message !== undefined)
  const end = children.find(({ dataset }) => dataset.after !== undefined)?.offsetTop ?? 0
  const tops = new Map<string, number>()
  for (const [at, { dataset, offsetTop }] of all.entries()) {
    const id = dataset.message ?? ''
    tops.set(id, offsetTop)
    heights.set(id, (all[at + 1]?.offsetTop ?? end + gap) - offsetTop)
  }
  return tops
}

/** Moves the focus to the scroll container if the focused message is removed, so that keys still scroll. */
function keepFocus(element: HTMLElement, staying: readonly string[]): void {
  const holder = document.activeElement?.closest<HTMLElement>('[data-message]')
  if (holder && element.contains(holder) && !staying.includes(holder.dataset.message ?? '')) element.focus({ preventScroll: true })
}
