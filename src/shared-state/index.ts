/**
 * JSON that a session shares with its pages: with a schema, versions and a history.
 *
 * @module
 */
export type { PatchOperation, PatchStep, SavedState, StateAuthor, StateChange } from '../contract/session/shared-state.ts'
export type {
  SessionState,
  SharedState,
  SharedStateRules,
  StateChangeOptions,
  StateRecorder,
  ToldStateChange,
} from '../types/session/shared-state.ts'
export { type SharedStateDefinition, type SharedStateOptions, sharedState } from './shared-state.ts'
