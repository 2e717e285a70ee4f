import {
  aJsonObject,
  aText,
  type FieldsOf,
  fieldsOf,
  type Infer,
  json,
  listOf,
  object,
  oneOf,
  optional,
  type ShapeOf,
  tagged,
  wholeFrom,
} from '../shape/shape.ts'

const steps = { add: { path: aText, value: json }, remove: { path: aText }, replace: { path: aText, value: json } }
const patchStep = tagged('op', steps)
/** JSON Patch operations (RFC 6902) that record a state change. Only three kinds are needed. */
export type PatchStep = Infer<typeof patchStep>

const patchOperation = tagged('op', {
  ...steps,
  move: { from: aText, path: aText },
  copy: { from: aText, path: aText },
  test: { path: aText, value: json },
})
/** An operation of JSON Patch (RFC 6902). Its paths are JSON Pointers (RFC 6901). */
export type PatchOperation = Infer<typeof patchOperation>
export const patchOperations = listOf(patchOperation)

/** Author of a change of shared state. */
export const stateAuthor = oneOf('application', 'client', 'tool')
/** Author of a change of shared state: application code, a client, or a tool. */
export type StateAuthor = Infer<typeof stateAuthor>

/**
 * A change of shared state, or its initial value: the resulting version, the author, and either the patch or, if shorter, the whole state.
 */
export const stateChangeFields = {
  version: wholeFrom(0),
  by: stateAuthor,
  /** Tool call that made the change. */
  toolCallId: optional(aText),
  patch: optional(listOf(patchStep)),
  value: optional(aJsonObject),
}

const savedStateFields = {
  /** Counts changes; 0 is the initial state. */
  version: wholeFrom(0),
  value: aJsonObject,
}
/** Shared state after a change. Source: docs/guides/shared-state.md */
export interface SavedState extends FieldsOf<typeof savedStateFields> {}
export const savedState: ShapeOf<SavedState> = object<SavedState>(savedStateFields)

const stateChange = fieldsOf(stateChangeFields)
/** One change of shared state. */
export type StateChange = Infer<typeof stateChange>
