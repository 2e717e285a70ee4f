import type { AgentEvent, AgentMessage } from '../../../src/index.ts'

/** Events after a cursor, for one reader. */
export interface EventSource extends AsyncIterable<AgentEvent> {
  /** Whether the run is currently waiting for a user or client, regardless of the events read so far. */
  readonly isWaiting: boolean
  /** Aborts when another process continues the run, so that readers reconnect. */
  readonly takenOver?: AbortSignal
  /** Calls `listener` with each version of shared state, even without a run. Returns a function that unsubscribes. */
  onState?(listener: (version: number) => void): () => void
  /** Registers a reader. Returns a function that unregisters it. */
  enter?(): () => void
}

/** Events of one run, with data for the encoder. */
export interface RunSource extends EventSource {
  readonly runId: string
  readonly loopId: string
  readonly sessionId: string
  /** Returns the conversation before the run, or an empty list if the run is not the last one. */
  historyBefore(): Promise<readonly AgentMessage[]>
}

/** A run and a cursor in it. */
export interface RunPlace {
  loopId: string
  /** Id of a run that has just started, whose loop may still change. */
  runId?: string
  /** Number of the last event that the reader has. By default, the reader receives all events in memory. */
  after?: number
}

/**
 * How to send large media: as `bytes`, as `names` for clients that read `…/blobs/:hash`, or as app URLs with the given base. Media that the
 * store does not store separately are always sent as bytes.
 */
export type MediaForm = 'bytes' | 'names' | { base: string }
