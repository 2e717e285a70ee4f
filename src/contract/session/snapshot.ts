import type { ContextState } from '../context/context-change.ts'
import type { AgentMessage } from '../message/message.ts'
import type { ThinkingLevel } from '../model/model-config.ts'

/**
 * Everything needed to go on with a conversation elsewhere, as plain JSON. No model and no key: those belong to the environment that goes on.
 *
 * Source: docs/concepts/continuations-and-snapshots.md
 */
export interface AgentSnapshot {
  /** Version of this shape. */
  version: 1
  /** Epoch ms. */
  createdAt: number
  agentId: string
  sessionId: string
  lastLoopId?: string
  /** Loops run so far, per configuration segment: ids are not used twice. */
  loopCounts: Record<string, number>
  messages: AgentMessage[]
  state: ContextState
  /** Absent where they are not known: the settings of whoever goes on stay then. */
  settings?: { systemPrompt: string; thinking: ThinkingLevel; maxTokens?: number; temperature?: number; configId?: string }
}
