import type { BlockProvenance, ProvenanceRole } from '../../contract/message/identity.ts'
import { type AgentMessage, isLlmMessage, type LlmMessage, type Message, type MessageEnvelope } from '../../contract/message/message.ts'
import { isBridge, isStandIn } from '../view/stand-in.ts'

/**
 * Where each message of a request came from.
 *
 * **Contract**
 * - As long as `sent`; the system prompt has no entry.
 * - `entries` are the messages before `convertToLlm`. What is sent is found among them by its id, so copies and reordering do no harm.
 * - A `provenanceHint` is taken as it is, also from a message that a converter made. Else a message with a turn is a `loopTurn`, and
 *   `messageIndex` its place among the messages of that turn that are sent, hinted ones included. Summaries, and what else the SDK writes in the place of
 *   what is not sent, are `runtime`. Anything else is `unknown`: a message that a converter made, and a history that was handed in without turns.
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
