import { type AgentMessage, toolCallsOf } from '../types/message.ts'

/** Positions of the calls of an answer, by id. */
export type CallOrder = ReadonlyMap<string, number>

/** The calls of `message`; none where it is no answer. */
export function callOrder(message: AgentMessage | undefined): CallOrder {
  const calls = message?.role === 'assistant' ? toolCallsOf(message.content) : []
  return new Map(calls.map((call, index) => [call.id, index]))
}

/** Puts a result among the results at the end of `messages`: calls that run at once are answered in any order, a history has them in theirs. */
export function insertResult(messages: AgentMessage[], result: AgentMessage, order: CallOrder): void {
  const rank = rankOf(result, order)
  let at = messages.length
  for (let before = messages[at - 1]; before?.role === 'toolResult' && rankOf(before, order) > rank; before = messages[at - 1]) at -= 1
  messages.splice(at, 0, result)
}

function rankOf(message: AgentMessage, order: CallOrder): number {
  return (message.role === 'toolResult' ? order.get(message.toolCallId) : undefined) ?? Number.POSITIVE_INFINITY
}
