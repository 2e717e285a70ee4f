import { waitingApprovals } from '../../base/questions.ts'
import { approvalIdOf } from '../shared/client-input.ts'
import type { OpenCall } from '../shared/open-calls.ts'
import type { AgUiEvent, AgUiInterrupt } from './ag-ui-event.ts'
import type { AgUiEncoderOptions } from './encoder-contract.ts'
import { type Outcome, RunFrame, restatedOf } from './run-frame.ts'
import { CallIds } from './to-ag-ui-messages.ts'

/** Returns the interrupt for a pending approval. `toolCallId` is the client's id of the call. */
export function interruptOf({ toolCallId: id, toolName, input, argumentsHash = '' }: OpenCall, toolCallId: string): AgUiInterrupt {
  return {
    id: approvalIdOf({ toolCallId: id, argumentsHash }),
    reason: 'tool_call',
    message: `Allow the agent to call ${toolName}?`,
    toolCallId,
    responseSchema: decisionSchema,
    metadata: { toolName, arguments: input },
  }
}

/**
 * Returns the outcome of a paused run. If only client calls are pending, the run counts as finished, and the client starts the next run
 * with their results.
 */
export function outcomeOf(interrupts: AgUiInterrupt[]): Outcome {
  return interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts }
}

const decisionSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' }, editedArgs: { type: 'object' } },
  required: ['approved'],
}

/**
 * Returns a complete response with a conversation's state, for a client that connects while no run is active: `RUN_STARTED`, `history` as
 * `MESSAGES_SNAPSHOT`, and `RUN_FINISHED` with pending approvals as interrupts. The client runs calls that have no result.
 *
 * Source: docs/reference/ui-protocols.md
 */
export function agUiStanding(options: Omit<AgUiEncoderOptions, 'restate' | 'replyTo' | 'cost'>): AgUiEvent[] {
  const { history = [], approvals = waitingApprovals(history) } = options
  const ids = new CallIds()
  const events: AgUiEvent[] = []
  const frame = new RunFrame(options, restatedOf(history, ids), (event) => events.push(event))
  const interrupts = approvals.map(({ toolCallId, toolName, args: input, argumentsHash, subAgent }) => {
    const key = subAgent === undefined ? ids.current(toolCallId) : `${subAgent.loopId}/${toolCallId}`
    return interruptOf({ key, toolCallId, toolName, input, argumentsHash, state: 'asked', isShown: true }, key)
  })
  frame.finish(outcomeOf(interrupts))
  return events
}
