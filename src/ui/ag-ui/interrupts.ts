import { waitingApprovals } from '../../base/questions.ts'
import { approvalIdOf } from '../shared/client-input.ts'
import type { OpenCall } from '../shared/open-calls.ts'
import type { AgUiEvent, AgUiInterrupt } from './ag-ui-event.ts'
import type { AgUiEncoderOptions } from './encoder-contract.ts'
import { RunFrame } from './run-frame.ts'
import { CallIds, toAgUiMessages } from './to-ag-ui-messages.ts'

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

/**
 * The events of a whole response that tells where a conversation stands, for a client that asks while no run is on: `RUN_STARTED`, all of `history` as
 * `MESSAGES_SNAPSHOT`, and `RUN_FINISHED`, with what waits for a person as interrupts. A call without a result is the page's to run.
 *
 * Source: docs/concepts/ui-protocols.md
 */
export function agUiStanding(options: Omit<AgUiEncoderOptions, 'restate' | 'replyTo' | 'cost'>): AgUiEvent[] {
  const { history = [], approvals = waitingApprovals(history) } = options
  const ids = new CallIds()
  const frame = new RunFrame(options, toAgUiMessages(history, ids))
  const interrupts = approvals.map(({ toolCallId, toolName, arguments: input, argumentsHash, subAgent }) => {
    const key = subAgent === undefined ? ids.current(toolCallId) : `${subAgent.loopId}/${toolCallId}`
    return interruptOf({ key, toolCallId, toolName, input, argumentsHash, state: 'asked', isShown: true }, key)
  })
  return frame.collect(() => frame.finish(interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts }))
}
