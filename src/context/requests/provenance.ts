import type { BlockProvenance, ProvenanceRole } from '../../contract/message/identity.ts'
import { type AgentMessage, isLlmMessage, type LlmMessage, type Message, type MessageEnvelope } from '../../contract/message/message.ts'
import { isBridge, isStandIn } from '../view/stand-in.ts'

/**
 * Returns the origin of each message in a request.
 *
 * **Contract**
 * - Same length as `sent`. The system prompt has no entry.
 * - `entries` are the messages before `convertToLlm`. Matches sent messages by id, so copies and reordering are allowed.
 * - A `provenanceHint` is used unchanged, also of a message that a converter created. Otherwise a message with a turn is a `loopTurn`, and
 *   `messageIndex` is its index among the sent messages of that turn, including hinted ones. Summaries and other replacements are `runtime`.
 *   All other messages are `unknown`: those that a converter created, and those in histories without turns.
 *
 * Source: docs/reference/tracing.md
 */
export function provenanceOf(entries: readonly AgentMessage[], sent: readonly Message[]): BlockProvenance[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const counts = new Map<string, number>()
  return sent.map((message) => {
    const { id, provenanceHint }: Message & Partial<MessageEnvelope> = message
    const entry = id === undefined ? undefined : byId.get(id)
    const derived = entry !== undefined && isLlmMessage(entry) ? loopTurn(entry, counts) : undefined
    return provenanceHint ?? derived ?? { kind: 'unknown' }
  })
}

function loopTurn(entry: LlmMessage, counts: Map<string, number>): BlockProvenance | undefined {
  const { turnId, provenanceHint } = entry
  const known = provenanceHint ?? (isStandIn(entry) || isBridge(entry) ? { kind: 'runtime' as const } : undefined)
  if (turnId === undefined) return known
  const { loopId, turnIndex } = turnId
  // Turns count from 0 in every loop.
  const turn = JSON.stringify([loopId, turnIndex])
  const messageIndex = counts.get(turn) ?? 0
  counts.set(turn, messageIndex + 1)
  return known ?? { kind: 'loopTurn', turnIndex, role: roleOf(entry), messageIndex }
}

function roleOf(message: Message): ProvenanceRole {
  if (message.role === 'user') return 'userMessage'
  if (message.role === 'toolResult') return 'toolCallResult'
  return message.content.some((block) => block.type === 'toolCall') ? 'toolCallRequest' : 'assistantResponse'
}
