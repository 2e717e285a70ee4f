import { type AgentMessage, callsToAnswer, type TurnId } from '../../contract/message/message.ts'

/**
 * Returns the turns of a history in order: neighbours with the same `turnId`. A message without one is its own turn.
 *
 * **Contract**
 * - A result belongs to the turn of its call, whatever its own `turnId`. Messages in between belong to it as well. For a repeated id, the
 *   latest call counts.
 * - Every message is in exactly one turn, and the concatenated turns are the history.
 *
 * Source: docs/concepts/context.md
 */
export function turnsOf(messages: readonly AgentMessage[]): AgentMessage[][] {
  const turns: AgentMessage[][] = []
  const open = new Map<string, number>()
  let turnId: TurnId | undefined
  for (const message of messages) {
    const calledIn = message.role === 'toolResult' ? open.get(message.toolCallId) : undefined
    if (message.role === 'toolResult' && calledIn !== undefined) {
      open.delete(message.toolCallId)
      // Count joined turns once.
      joinFrom(turns, Math.min(calledIn, turns.length - 1)).push(message)
      continue
    }
    const own = message.role === 'extension' ? undefined : message.turnId
    const last = turns.at(-1)
    if (last !== undefined && isSameTurn(own, turnId)) last.push(message)
    else turns.push([message])
    turnId = own
    if (message.role === 'assistant') for (const call of callsToAnswer(message.content)) open.set(call.id, turns.length - 1)
  }
  return turns
}

function joinFrom(turns: AgentMessage[][], index: number): AgentMessage[] {
  const joined = turns[index] ?? []
  for (const turn of turns.splice(index + 1)) joined.push(...turn)
  return joined
}

function isSameTurn(a: TurnId | undefined, b: TurnId | undefined): boolean {
  return a !== undefined && b !== undefined && a.loopId === b.loopId && a.turnIndex === b.turnIndex
}

/**
 * Returns the start of each message's group: a tool result belongs to the latest previous response with its call. Other messages are their
 * own group. A result without a call is also its own group.
 */
export function groupStarts(messages: readonly AgentMessage[]): number[] {
  // Some providers restart call ids in each response: the latest call with an id counts.
  const callers = new Map<string, number>()
  return messages.map((message, index) => {
    if (message.role === 'assistant') {
      for (const { id } of callsToAnswer(message.content)) callers.set(id, index)
    }
    return message.role === 'toolResult' ? (callers.get(message.toolCallId) ?? index) : index
  })
}
