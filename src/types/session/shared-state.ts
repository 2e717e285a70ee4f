import type { JsonObject } from '../../contract/json.ts'
import type { JournalEntry } from '../../contract/session/journal-entry.ts'
import type { PatchOperation, SavedState, StateAuthor, StateChange } from '../../contract/session/shared-state.ts'

/** Options for changing shared state. */
export interface StateChangeOptions {
  /** Expected version. If the current version differs, the change rejects with `stateConflict`. Default: any version. */
  ifVersion?: number
  /** Author to record. Default: `application`. Changes from tools always record `tool`. */
  by?: Exclude<StateAuthor, 'tool'>
  /** Idempotency key of a client request, recorded with the change so that a server recognises retries. */
  idempotencyKey?: string
}

/** A change passed to listeners, with the SHA-256 of the resulting state. */
export interface StateChangeNotification extends StateChange {
  hash: string
}

/**
 * JSON state that a session's tools, application and browser clients share.
 *
 * **Contract**
 * - Changes are applied one after another. Each change is validated and recorded in the session before it becomes visible. `set` and
 *   `patch` resolve with the new version. A change without effect creates no version.
 * - They reject with `ConfigError` `invalidState` if the state does not fit the schema, is too long, or the patch is invalid. They reject
 *   with `stateConflict` if `ifVersion` differs, and with the journal's error if recording fails. The state is then unchanged.
 *
 * Source: docs/guides/shared-state.md
 */
export interface SharedState<State extends JsonObject = JsonObject> {
  /** Current state. Immutable: each version is a new object. */
  readonly value: State
  /** Current version: the number of changes so far. */
  readonly version: number
  /** Replaces the state, or applies a function to a copy. The function is called after earlier changes have been applied. */
  set(next: State | ((current: State) => State), options?: StateChangeOptions): Promise<number>
  /** Applies all JSON Patch operations, or none if one fails. */
  patch(operations: readonly PatchOperation[], options?: StateChangeOptions): Promise<number>
  /** Calls `listener` after each change. Returns a function that unsubscribes. */
  subscribe(listener: (change: StateChangeNotification) => void): () => void
}

/** Records a session's shared state. */
export interface StateRecorder {
  /** Returns the current session id. */
  sessionId(): string
  /** Makes a change durable. `undefined` without a journal. */
  record(entry: JournalEntry): Promise<void> | undefined
}

/** In-memory state of one session, shared by its agent and loops. */
export interface SessionState extends SharedState {
  /** Restores a saved state, or the initial state. `isRecorded`: the current session already contains the state. */
  become(saved: SavedState | undefined, isRecorded: boolean): void
  /** Creates a copy for a session that continues this one. */
  begin(recorder: StateRecorder): SessionState
  /** Records the state if the session does not contain it yet, as in a new session or one that continues another session or snapshot. */
  recordIfNew(): Promise<void>
  /** Returns a view whose changes are recorded for a tool call. `assertOn` throws once the call has ended. */
  ofCall(toolCallId: string, assertOn: () => void): SharedState
}

/** Definition of shared state, created by `sharedState` for the agent option `sharedState`. */
export interface SharedStateRules<State extends JsonObject = JsonObject> {
  readonly initial: State
  /** Creates a session's state. */
  begin(recorder: StateRecorder): SessionState
}
