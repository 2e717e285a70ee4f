import type { ReadonlySignal } from '@preact/signals'
import type { AgentEvent } from '../../../../src/index.ts'

/** When an event is heard again, in ms from the beginning. */
export interface Moment {
  at: number
  event: AgentEvent
}

/** The replayed events: one branch of a conversation, in order. */
export interface Timeline {
  moments: readonly Moment[]
  /** Milliseconds. */
  length: number
  /** Start times of turns in milliseconds. */
  turns: readonly number[]
}

/** How a replay is moved. */
export interface Replay {
  readonly timeline: Timeline
  /** Milliseconds. */
  position: ReadonlySignal<number>
  isPlaying: ReadonlySignal<boolean>
  speed: ReadonlySignal<number>
  play(speed?: number): void
  pause(): void
  seek(position: number): void
  /** To the next event, or the one before. */
  step(by: 1 | -1): void
}
