import type { JsonObject } from '../../contract/json.ts'
import type { JournalEntry } from '../../contract/session/journal-entry.ts'
import type { PatchOperation, SavedState, StateAuthor, StateChange } from '../../contract/session/shared-state.ts'

/** How a change of shared state is made. */
export interface StateChangeOptions {
  /** The version that the change is about: where the state has another one by now, it is refused with `stateConflict`. Default: whichever it has. */
  ifVersion?: number
  /** Who is told to have made it. Default `application`; a tool is always told as that. */
  by?: Exclude<StateAuthor, 'tool'>
  /** The key under which a client has asked for it. It is recorded with the change: a server knows by it what was made already. */
  idempotencyKey?: string
}

/** A change as listeners learn of it, with the SHA-256 of the state that it made. */
export interface ToldStateChange extends StateChange {
  hash: string
}

/**
 * JSON that a session shares with its pages: tools, the application and pages read and change it.
 *
 * **Contract**
 * - Changes are made one after the other. Each is checked, recorded in the session, and only then seen; `set` and `patch` resolve with its version. One that changes nothing makes none.
 * - They reject with `ConfigError`: `invalidState` for what does not fit the schema, is too long, or is no patch; `stateConflict` where `ifVersion` is another. Nothing has changed
 *   then. With what the journal says where it cannot be recorded.
 *
 * Source: docs/guides/shared-state.md
 */
export interface SharedState<State extends JsonObject = JsonObject> {
  /** As it is now. It never changes: the next version is another object. */
  readonly value: State
  /** Counts the changes from 0. */
  readonly version: number
  /** Puts `next` in its place, or what a function makes of a copy. The function is called when it is its turn. */
  set(next: State | ((current: State) => State), options?: StateChangeOptions): Promise<number>
  /** Changes parts of it: all of the operations, or none. */
  patch(operations: readonly PatchOperation[], options?: StateChangeOptions): Promise<number>
  /** Calls `listener` after each change; returns how to stop. */
  subscribe(listener: (change: ToldStateChange) => void): () => void
}

/** Where the state of a session is recorded. */
export interface StateRecorder {
  /** The session that is written to. */
  sessionId(): string
  /** Makes a change durable; `undefined` where there is no journal. */
  record(entry: JournalEntry): Promise<void> | undefined
}

/** The state of one session in memory, as its agent and its loops have it. */
export interface SessionState extends SharedState {
  /** Goes on from what was saved, by default from the beginning; `isRecorded` in the session that is written to. */
  become(saved: SavedState | undefined, isRecorded: boolean): void
  /** Another one that begins where this one is: for a session that goes on from this one. */
  begin(recorder: StateRecorder): SessionState
  /** Records it in a session that does not have it yet: a new one, and one that goes on from another one or from a snapshot. */
  recordIfNew(): Promise<void>
  /** The same state, changed in the name of a call, while `assertOn` does not throw. */
  ofCall(toolCallId: string, assertOn: () => void): SharedState
}

/** What shared state may be: what `sharedState` makes, for the option `sharedState` of an agent. */
export interface SharedStateRules<State extends JsonObject = JsonObject> {
  readonly initial: State
  /** The state of a session, at its beginning. */
  begin(recorder: StateRecorder): SessionState
}
