import { stateChangeFields } from '../session/shared-state.ts'
import { aText, type FieldsOf, object, oneOf } from '../shape/shape.ts'
import { eventBase } from './run-facts.ts'

const sharedStateChanged = {
  ...eventBase,
  ...stateChangeFields,
  type: oneOf('sharedStateChanged'),
  /** SHA-256 of the state that it made. */
  hash: aText,
}

/** What the session shares with its pages was changed while the run was on: by a tool of it, a page or the application. Source: docs/concepts/shared-state.md */
export interface SharedStateChangedEvent extends FieldsOf<typeof sharedStateChanged> {}

export const stateEvents = { sharedStateChanged: object<SharedStateChangedEvent>(sharedStateChanged) }
