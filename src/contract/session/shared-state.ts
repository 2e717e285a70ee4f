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
/** What a change of shared state comes to: operations of JSON Patch (RFC 6902), of three kinds. */
export type PatchStep = Infer<typeof patchStep>

const patchOperation = tagged('op', {
  ...steps,
  move: { from: aText, path: aText },
  copy: { from: aText, path: aText },
  test: { path: aText, value: json },
})
/** An operation of JSON Patch (RFC 6902); its paths are JSON Pointers (RFC 6901). */
export type PatchOperation = Infer<typeof patchOperation>
export const patchOperations = listOf(patchOperation)

/** Who changed shared state, in words. */
export const stateAuthor = oneOf('application', 'client', 'tool')
/** Who changed shared state: the application's own code, a page, or a tool. */
export type StateAuthor = Infer<typeof stateAuthor>

/** One change of shared state, or what it begins with: the version that it made, by whom, and either what changed or, where that is shorter, all of it. */
export const stateChangeFields = {
  version: wholeFrom(0),
  by: stateAuthor,
  /** The call that made it, where a tool did. */
  toolCallId: optional(aText),
  patch: optional(listOf(patchStep)),
  value: optional(aJsonObject),
}

const savedStateFields = {
  /** Counts the changes: 0 is what the application begins with. */
  version: wholeFrom(0),
  value: aJsonObject,
}
/** Shared state as it is after a change. Source: docs/guides/shared-state.md */
export interface SavedState extends FieldsOf<typeof savedStateFields> {}
export const savedState: ShapeOf<SavedState> = object<SavedState>(savedStateFields)

const stateChange = fieldsOf(stateChangeFields)
/** One change of shared state. */
export type StateChange = Infer<typeof stateChange>
