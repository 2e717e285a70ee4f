import { onTestFinished, vi } from 'vitest'
import type { RunState, TextSmoothing } from '../../../src/store.ts'
import { createStore } from '../../../src/store.ts'
import { agentStart, asRun, type EventBody, start } from '../events.ts'

/** Milliseconds of a frame without `requestAnimationFrame`. */
export const frameMs = 16

/** Text that shows of the streaming message, or of the last one. */
export function shownText({ live, messages }: RunState): string {
  const blocks = (live ?? messages.at(-1))?.blocks ?? []
  return blocks.map((block) => ('text' in block ? block.text : `[${block.type}]`)).join('|')
}

/**
 * A store with a message `m` that has begun, under fake timers, and what its listeners were shown. `sent`: when the beginning was sent, in
 * milliseconds after now.
 */
export function streaming(smooth: TextSmoothing, { sent = 0 }: { sent?: number } = {}) {
  vi.useFakeTimers({ now: 1_000_000 })
  onTestFinished(() => void vi.useRealTimers())
  const store = createStore(undefined, { schedule: (flush) => flush(), smooth })
  const seen: RunState[] = []
  const stop = store.subscribe(() => seen.push(store.getSnapshot()))
  let seq = 0
  /** Dispatches events that were sent so many milliseconds after now. */
  const sayAt = (ms: number, ...bodies: EventBody[]) => {
    for (const event of asRun(bodies)) store.dispatch({ ...event, seq: ++seq, at: Date.now() + ms })
  }
  /** Dispatches events that happen now. */
  const say = (...bodies: EventBody[]) => sayAt(0, ...bodies)
  sayAt(sent, agentStart, start('m'))
  return { store, seen, stop, say, sayAt, text: () => shownText(store.getSnapshot()) }
}
