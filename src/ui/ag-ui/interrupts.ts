import { waitingApprovals } from '../../base/questions.ts'
import { approvalIdOf } from '../shared/client-input.ts'
import type { OpenCall } from '../shared/open-calls.ts'
import type { AgUiEvent, AgUiInterrupt } from './ag-ui-event.ts'
import type { AgUiEncoderOptions } from './encoder-contract.ts'
import { type Outcome, RunFrame } from './run-frame.ts'
import { CallIds, toAgUiMessages } from './to-ag-ui-messages.ts'

/** The interrupt of a pending approval of `call`, which the client knows as `toolCallId`. */
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

/** The outcome of a waiting run. If only client calls are pending, the run is finished for the client, which starts the next one with their results. */
export function outcomeOf(interrupts: AgUiInterrupt[]): Outcome {
  return interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts }
}

const decisionSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
}

/**
 * Returns a complete response with the state of a conversation, for a client that connects while no run is active: `RUN_STARTED`,
 * `history` as `MESSAGES_SNAPSHOT`, and `RUN_FINISHED` with pending approvals as interrupts. A call without a result is for the
 * client to run.
 *
 * Source: docs/reference/ui-protocols.md
 */
export function agUiStanding(options: Omit<AgUiEncoderOptions, 'restate' | 'replyTo' | 'cost'>): AgUiEvent[] {
  const { history = [], approvals = waitingApprovals(history) } = options
  const ids = new CallIds()
  const events: AgUiEvent[] = []
  const frame = new RunFrame(options, toAgUiMessages(history, ids), (event) => events.push(event))
  const interrupts = approvals.map(({ toolCallId, toolName, args: input, argumentsHash, subAgent }) => {
    const key = subAgent === undefined ? ids.current(toolCallId) : `${subAgent.loopId}/${toolCallId}`
    return interruptOf({ key, toolCallId, toolName, input, argumentsHash, state: 'asked', isShown: true }, key)
  })
  frame.finish(outcomeOf(interrupts))
  return events
}
