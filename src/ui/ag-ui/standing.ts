import { waitingApprovals } from '../../base/questions.ts'
import type { AgUiEvent } from './ag-ui-event.ts'
import type { AgUiEncoderOptions } from './encoder-contract.ts'
import { interruptOf } from './interrupts.ts'
import { RunFrame } from './run-frame.ts'
import { CallIds, toAgUiMessages } from './to-ag-ui-messages.ts'

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
