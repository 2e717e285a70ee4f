import type { JsonObject } from '../../contract/json.ts'
import type { JournalEntry } from '../../contract/session/journal-entry.ts'
import type { PatchOperation, SavedState, StateAuthor, StateChange } from '../../contract/session/shared-state.ts'

/** Options of a change to shared state. */
export interface StateChangeOptions {
  /** Expected version. A change to any other version is rejected with `stateConflict`. Default: any version. */
  ifVersion?: number
  /** Recorded author. Default: `application`; changes by tools always record `tool`. */
  by?: Exclude<StateAuthor, 'tool'>
  /** Idempotency key of a client request, recorded with the change so that a server recognises retries. */
  idempotencyKey?: string
}

/** A change as listeners receive it, with the SHA-256 of the resulting state. */
export interface StateChangeNotification extends StateChange {
  hash: string
}

/**
 * JSON state that a session shares: tools, the application and browser clients read and change it.
 *
 * **Contract**
 * - Changes are serialized. Each is validated, recorded in the session, and then visible. `set` and `patch` resolve with its version. A
 *   change without effect creates no version.
 * - They reject with `ConfigError` `invalidState` if the state does not fit the schema, is too long, or the patch is invalid. They reject
 *   with `stateConflict` if `ifVersion` differs, and with the journal's error if recording fails. The state is then unchanged.
 *
 * Source: docs/guides/shared-state.md
 */
export interface SharedState<State extends JsonObject = JsonObject> {
  /** Current state. Immutable: each version is a new object. */
  readonly value: State
  /** Counts changes, from 0. */
  readonly version: number
  /** Replaces the state, or applies a function to a copy of it. The function is called when earlier changes are done. */
  set(next: State | ((current: State) => State), options?: StateChangeOptions): Promise<number>
  /** Applies all patch operations, or none. */
  patch(operations: readonly PatchOperation[], options?: StateChangeOptions): Promise<number>
  /** Calls `listener` after each change. Returns a function that unsubscribes. */
  subscribe(listener: (change: StateChangeNotification) => void): () => void
}

/** Records the state of a session. */
export interface StateRecorder {
  /** Returns the current session id. */
  sessionId(): string
  /** Makes a change durable; `undefined` without a journal. */
  record(entry: JournalEntry): Promise<void> | undefined
}

/** In-memory state of one session, shared by its agent and loops. */
export interface SessionState extends SharedState {
  /** Restores a saved state, or the initial one. `isRecorded`: the current session already has it. */
  become(saved: SavedState | undefined, isRecorded: boolean): void
  /** Creates a copy for a session that continues this one. */
  begin(recorder: StateRecorder): SessionState
  /** Records the state if the session lacks it: a new session, or one that continues another session or a snapshot. */
  recordIfNew(): Promise<void>
  /** Returns a view whose changes are recorded for a tool call. `assertOn` throws once the call has ended. */
  ofCall(toolCallId: string, assertOn: () => void): SharedState
}

/** Definition of shared state, created by `sharedState` for the agent option `sharedState`. */
export interface SharedStateRules<State extends JsonObject = JsonObject> {
  readonly initial: State
  /** Creates the state of a session. */
  begin(recorder: StateRecorder): SessionState
}
