import type { ToolCallContent } from '../contract/message/content.ts'
import { type AgentMessage, toolCallsOf } from '../contract/message/message.ts'
import type { PendingApproval } from '../contract/run/run-facts.ts'
import { openCallsOf, shownApprovalsOf } from '../types/tool/open-calls.ts'
import { argumentsHash } from './json/arguments-hash.ts'

/**
 * The calls at the end of a history that wait for a person, as they were shown, in the order of the calls. Those that they hold back are not among
 * them. A process that ended while they waited has not said which were shown: `asks` says which of its calls would be. Default: none.
 */
export function waitingApprovals(messages: readonly AgentMessage[], asks: (toolName: string) => boolean = () => false): PendingApproval[] {
  const shown = new Map<string, PendingApproval>()
  const open = new Set<string>()
  const answered = new Set<string>()
  const heldBack = new Set<string>()
  for (const message of messages.toReversed()) {
    if (message.role === 'user') return []
    if (message.role === 'toolResult') answered.add(message.toolCallId)
    if (message.role === 'extension') {
      const waiting = shownApprovalsOf(message)
      // What was shown last counts.
      for (const pending of waiting) if (!shown.has(pending.toolCallId)) shown.set(pending.toolCallId, pending)
      for (const id of openCallsOf(message)) {
        open.add(id)
        if (waiting.length > 0) heldBack.add(id)
      }
    }
    if (message.role !== 'assistant') continue
    const calls = toolCallsOf(message.content).filter(({ id }) => open.has(id) && !answered.has(id))
    return calls.flatMap((call) => shown.get(call.id) ?? (asks(call.name) && !heldBack.has(call.id) ? [requestOf(call)] : []))
  }
  return []
}

function requestOf({ id, name, arguments: args }: ToolCallContent): PendingApproval {
  return { toolCallId: id, toolName: name, arguments: args, argumentsHash: argumentsHash(args) }
}
