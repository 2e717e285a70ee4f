import type { AssistantMessage } from '../../contract/message/message.ts'
import type { AgentEndEvent } from '../../contract/run/event.ts'
import type { UiFinishReason } from './ui-message.ts'

/** How a run ended, where that says why its answer did. */
export const reasons: Partial<Record<AgentEndEvent['status'], UiFinishReason>> = {
  error: 'error',
  rejected: 'error',
  aborted: 'interrupted',
  limit: 'other',
  paused: 'tool-calls',
}

/** Why an answer ended, after the model's last stop. */
export function finishReasonOf(stopReason: AssistantMessage['stopReason']): UiFinishReason {
  if (stopReason === 'length') return 'length'
  if (stopReason === 'toolUse') return 'tool-calls'
  return stopReason === 'guardRail' ? 'content-filter' : 'stop'
}
