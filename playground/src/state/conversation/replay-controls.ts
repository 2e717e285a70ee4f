import type { ReadonlySignal } from '@preact/signals'
import type { AgentEvent } from '../../../../src/index.ts'

/** An event, and its time in a replay in milliseconds from the beginning. */
export interface Moment {
  at: number
  event: AgentEvent
}

/** The replayed events: one branch of a conversation, in order. */
export interface Timeline {
  moments: readonly Moment[]
  /** Milliseconds. */
  length: number
  /** Start time of each turn in milliseconds. */
  turns: readonly number[]
}

/** A replay's controls. */
export interface Replay {
  readonly timeline: Timeline
  /** Milliseconds. */
  position: ReadonlySignal<number>
  isPlaying: ReadonlySignal<boolean>
  speed: ReadonlySignal<number>
  play(speed?: number): void
  pause(): void
  seek(position: number): void
  /** Moves to the next or the previous event. */
  step(by: 1 | -1): void
}
