import type { AgentEvent, AgentMessage } from '../../../src/index.ts'

/** Events from a place on, for one reader. */
export interface EventSource extends AsyncIterable<AgentEvent> {
  /** Whether what they are of waits for a person or a page now, whatever they tell of before. */
  readonly isWaiting: boolean
  /** Aborts where they go on elsewhere: who reads has to ask again. */
  readonly goneElsewhere?: AbortSignal
  /** Calls `listener` with each version of shared state, also while no run is on; returns how to stop. */
  onState?(listener: (version: number) => void): () => void
  /** Somebody follows them, until what this returns is called. */
  enter?(): () => void
}

/** The events of one run, and what an encoder has to know of it. */
export interface RunSource extends EventSource {
  readonly runId: string
  readonly loopId: string
  readonly sessionId: string
  /** The conversation as the run found it; empty for a run that is not the last one. */
  historyBefore(): Promise<readonly AgentMessage[]>
}

/** Which run, and from where on. */
export interface RunPlace {
  loopId: string
  /** Of a run that was begun just now: its loop may turn out to be another one. */
  runId?: string
  /** Number of the last event that the reader has. Default: everything that is remembered. */
  after?: number
}

/**
 * How large media are told: with their `bytes`, by `names` for who asks for `…/blobs/:hash`, or by the address at which the app of this base has them.
 * Where the store keeps no bytes beside its log they stay as they are.
 */
export type MediaForm = 'bytes' | 'names' | { base: string }
