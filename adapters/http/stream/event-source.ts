import type { AgentEvent, AgentMessage } from '../../../src/index.ts'

/** Events from a cursor on, for one reader. */
export interface EventSource extends AsyncIterable<AgentEvent> {
  /** Whether the run waits for a user or a client now, independent of the events read so far. */
  readonly isWaiting: boolean
  /** Aborts when another process continues the events: readers have to reconnect. */
  readonly takenOver?: AbortSignal
  /** Calls `listener` with each version of shared state, also without a run; returns how to stop. */
  onState?(listener: (version: number) => void): () => void
  /** Registers a reader; returns how to unregister it. */
  enter?(): () => void
}

/** The events of one run, with data for its encoder. */
export interface RunSource extends EventSource {
  readonly runId: string
  readonly loopId: string
  readonly sessionId: string
  /** Returns the conversation before the run; empty if the run is not the last one. */
  historyBefore(): Promise<readonly AgentMessage[]>
}

/** A run and a cursor in it. */
export interface RunPlace {
  loopId: string
  /** Id of a run that has just started: its loop may change. */
  runId?: string
  /** Number of the last event that the reader has. Default: all events in memory. */
  after?: number
}

/**
 * The form of large media: `bytes`; `names` for clients that read `…/blobs/:hash`; or URLs of the app with this base. A store
 * without separate media always sends bytes.
 */
export type MediaForm = 'bytes' | 'names' | { base: string }
