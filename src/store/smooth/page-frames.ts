import { fieldIn } from '../../contract/json.ts'

/**
 * Frame length in milliseconds without animation frames, and the delay after which to stop waiting for a frame: browsers draw none for
 * hidden pages.
 */
const frameMs = 16
const lateMs = 100

/** Calls `act` once, in the next animation frame. Returns a function that cancels the call. */
export function nextFrame(act: () => void): () => void {
  const hasFrames = typeof requestAnimationFrame === 'function'
  const run = () => {
    cancel()
    act()
  }
  const frame = hasFrames ? requestAnimationFrame(run) : undefined
  const timer = setTimeout(run, hasFrames ? lateMs : frameMs)
  const cancel = () => {
    clearTimeout(timer)
    if (frame !== undefined) cancelAnimationFrame(frame)
  }
  return cancel
}

/** Returns a function that checks whether to animate: the tab is visible, and the user does not prefer reduced motion. */
export function motionCheck(): () => boolean {
  const page = fieldIn(globalThis, 'document')
  const ask = fieldIn(globalThis, 'matchMedia')
  // The media query list keeps `matches` up to date.
  const reduced: unknown = typeof ask === 'function' ? ask.call(globalThis, '(prefers-reduced-motion: reduce)') : undefined
  return () => fieldIn(page, 'hidden') !== true && fieldIn(reduced, 'matches') !== true
}
