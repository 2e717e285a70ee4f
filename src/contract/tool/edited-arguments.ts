import { aFlag, aJsonObject, aText, type FieldsOf, object, optional, type ShapeOf } from '../shape/shape.ts'

const editedArgumentsFields = {
  /** Arguments that the call runs with. */
  arguments: aJsonObject,
  /** SHA-256 (hex) of the canonical JSON of `arguments`. */
  argumentsHash: aText,
  /** Who edited the arguments. */
  by: optional(aText),
  /** False if the model is not informed about the edit. */
  tellModel: optional(aFlag),
}

/** Arguments that replaced those of the model when a person approved the call. Source: docs/concepts/approval.md */
export interface EditedArguments extends FieldsOf<typeof editedArgumentsFields> {}
export const editedArguments: ShapeOf<EditedArguments> = object<EditedArguments>(editedArgumentsFields)
