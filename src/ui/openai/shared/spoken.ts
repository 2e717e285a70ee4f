import type { JsonObject } from '../../../contract/json.ts'
import type { ToolCallContent } from '../../../contract/message/content.ts'
import { textContent, userContent } from './caller-content.ts'
import { refuse } from './caller-fault.ts'
import type { CallerConversation } from './caller-request.ts'

/** Adds what somebody has said, by its role; `calls` are those that an assistant has made. Refuses a role that there is not. */
export function addSpoken(conversation: CallerConversation, { role, content }: JsonObject, calls: ToolCallContent[], param: string): void {
  switch (role) {
    case 'system':
    case 'developer':
      conversation.instruct(textContent(content, `${param}.content`))
      return
    case 'user':
      conversation.user(userContent(content, `${param}.content`))
      return
    case 'assistant':
      conversation.assistant(textContent(content, `${param}.content`), calls, param)
      return
    default:
      refuse(`${param}.role`, `${param}.role must be "system", "developer", "user", "assistant", or where results are messages "tool".`)
  }
}
