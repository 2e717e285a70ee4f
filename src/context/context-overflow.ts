import type { AgentMessage } from '../types/message.ts'
import { isContextOverflowText } from '../types/overflow.ts'

/**
 * Whether `message` is an answer that failed because the prompt did not fit the model's context. Compact, then ask again.
 *
 * Source: spec/06 "Context Overflow Detection", spec/27 "Context Overflow Detection".
 */
export function isContextOverflow(message: AgentMessage): boolean {
  if (message.role !== 'assistant' || message.stopReason !== 'error') return false
  return isContextOverflowText(message.errorMessage ?? '')
}
