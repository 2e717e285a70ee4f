import type { Content } from '../contract/message/content.ts'
import { text } from '../contract/message/message.ts'
import type { EditedArguments } from '../contract/tool/edited-arguments.ts'

/** Appends a line with the edited arguments for the model. Returns the content unchanged if `tellModel` is `false`. */
export function contentAfterEdit(content: readonly Content[], edited: EditedArguments | undefined): Content[] {
  if (edited === undefined || edited.tellModel === false) return [...content]
  return [...content, text(`\n\n[The user changed the arguments: ${JSON.stringify(edited.arguments)}]`)]
}
