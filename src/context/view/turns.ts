import { type AgentMessage, callsToAnswer, type TurnId } from '../../contract/message/message.ts'

/**
 * The turns of a history, in order: neighbours with the same `turnId`; a message without one is a turn of its own.
 *
 * **Contract**
 * - A result belongs to the turn of the call it answers, whatever its own `turnId` says; what stands between the two belongs to it as well.
 *   Where an id was used more than once, the latest call is meant.
 * - Every message is in exactly one turn, and the turns one after the other are the history.
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
      // Turns that were joined since then are no longer counted.
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
 * For each position of `messages`, where its group begins: a tool result belongs to the latest answer before it that made its call, everything
 * else is a group of its own. A result without its call is one too.
 */
export function groupStarts(messages: readonly AgentMessage[]): number[] {
  // Services count their calls anew in each answer: the latest call with an id is the one that a result answers.
  const callers = new Map<string, number>()
  return messages.map((message, index) => {
    if (message.role === 'assistant') {
      for (const { id } of callsToAnswer(message.content)) callers.set(id, index)
    }
    return message.role === 'toolResult' ? (callers.get(message.toolCallId) ?? index) : index
  })
}
