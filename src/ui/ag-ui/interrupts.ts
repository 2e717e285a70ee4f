import { approvalIdOf } from '../shared/approval-id.ts'
import type { OpenCall } from '../shared/open-calls.ts'
import type { AgUiInterrupt } from './ag-ui-event.ts'

/** What a person has to decide about `call`, which the client knows as `toolCallId`. */
export function interruptOf({ toolCallId: id, toolName, input, argumentsHash = '' }: OpenCall, toolCallId: string): AgUiInterrupt {
  return {
    id: approvalIdOf({ toolCallId: id, argumentsHash }),
    reason: 'tool_call',
    message: `May ${toolName} be called?`,
    toolCallId,
    responseSchema: decisionSchema,
    metadata: { toolName, arguments: input },
  }
}

const decisionSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
}
