import { planCompaction, runCompaction } from '../../../src/context/compaction/compact-history.ts'
import { resolveContext } from '../../../src/context/tokens/context-limits.ts'
import { deriveView } from '../../../src/context.ts'
import type { CompactionOverlay, ContextState } from '../../../src/contract/context/context-change.ts'
import type { JsonObject } from '../../../src/contract/json.ts'
import { type AgentMessage, type LlmMessage, type TurnId, textOf } from '../../../src/contract/message/message.ts'
import type { Usage } from '../../../src/contract/model/usage.ts'
import type { ContextConfig } from '../../../src/types/context/compaction.ts'
import type { Budget } from '../../../src/types/run/budget.ts'
import { unfenced } from '../../support/long-history.ts'
import { answer, result, user } from '../history.ts'

/** A budget that allows everything. */
export const anyBudget: Budget = { charge: () => undefined, exceeded: () => undefined }

export interface CompactOptions {
  state?: ContextState
  target?: number
  force?: boolean
  config?: Partial<ContextConfig>
  signal?: AbortSignal
  budget?: Budget
  spent?: (usage: Usage) => void
}

/** What a compaction came to: `undefined` where there was nothing to plan or to gain. */
export interface Compacted {
  overlay: CompactionOverlay
  loopsCompacted: number
  state: ContextState
  view: readonly AgentMessage[]
  warnings: { event: string; fields: JsonObject }[]
}

/** Plans and runs one compaction as a loop does. */
export async function compact(messages: readonly AgentMessage[], options: CompactOptions = {}): Promise<Compacted | undefined> {
  const { state = {}, target = 0, force = false, config = {}, signal = new AbortController().signal, budget = anyBudget, spent } = options
  const context = resolveContext({ maxContextTokens: 100_000, ...config }, { contextWindow: 200_000, maxTokens: 0 })
  if (context === undefined) throw new Error('This test compacts.')
  const view = deriveView(messages, state)
  const plan = planCompaction({ messages, state, view, context, loopId: 'now', targetTokens: target, force })
  const warnings: Compacted['warnings'] = []
  const warn = (event: string, fields: JsonObject) => void warnings.push({ event, fields })
  const done = plan && (await runCompaction(plan, { signal, budget, warn, ...(spent && { spent }) }))
  if (done === undefined) return undefined
  const next = { ...state, overlay: done.overlay }
  return { ...done, state: next, view: deriveView(messages, next), warnings }
}

/** What a message says, without the fence around what stands in for others. */
export const said = (message: AgentMessage | undefined): string =>
  message === undefined || message.role === 'extension' ? '' : unfenced(textOf(message.content))

/** Whether a text holds no half of a character. */
export const isWhole = (text: string): boolean => new TextDecoder().decode(new TextEncoder().encode(text)) === text

export const lines = (count: number): string => Array.from({ length: count }, (_, n) => `line ${n}`).join('\n')

/** Turns of one loop: each a question at length, an answer with one call, and its result of `outputLines` lines. */
export function turns(loopId: string, count: number, outputLines = 3): AgentMessage[] {
  return Array.from({ length: count }, (_, turnIndex) => turnOf({ loopId, turnIndex }, outputLines)).flat()
}

function turnOf(turnId: TurnId, outputLines: number): LlmMessage[] {
  const name = `${turnId.loopId}${turnId.turnIndex}`
  const content = [{ type: 'text' as const, text: lines(outputLines) }]
  const asked = { ...answer(`${name}a`, [`${name}c`], { turnId }) }
  asked.content[0] = { type: 'text', text: 'I look at it from all sides. '.repeat(8) }
  return [user(`${name}u`, { turnId }), asked, { ...result(`${name}r`, `${name}c`, { turnId }), content }]
}
