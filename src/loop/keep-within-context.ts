import { JournalError } from '../types/errors.ts'
import type { AgentMessage } from '../types/message.ts'
import type { AgentContext } from './loop-config.ts'
import type { LoopRun } from './loop-run.ts'

/**
 * Compacts what is sent when it has come too near to the context limit. Rejects only with `JournalError`: a compaction that fails is logged,
 * and the turn goes on with what there is.
 *
 * Source: spec/14 "When compaction fires", reference/phi-core-0.10.md §3 rows 15, 16.
 */
export async function keepWithinContext(run: LoopRun): Promise<void> {
  if (run.config.contextConfig === false || run.signal.aborted || isFarFromFull(run)) return
  try {
    const { compactIfDue } = await import('./compact-context.ts')
    await compactIfDue(run, false)
  } catch (error) {
    if (error instanceof JournalError) throw error
    run.warnFailed('compactionFailed', error)
  }
}

const lengths = new WeakMap<AgentMessage, number>()

/** With the default limits, a quick look saves most programs from loading what counts exactly. */
function isFarFromFull({ config, context }: LoopRun): boolean {
  if (config.contextConfig !== undefined) return false
  const { contextWindow, maxTokens } = config.model.config
  const limit = contextWindow > 0 ? contextWindow - Math.min(config.maxTokens ?? maxTokens, contextWindow / 2) : 100_000
  return maxTokensOf(context) < limit * 0.85 - Math.min(4000, limit * 0.2)
}

/** No fewer tokens than there can be: what the service counted at its last answer, or one for every character of what is sent. */
function maxTokensOf({ messages, systemPrompt, tools }: AgentContext): number {
  let tokens = systemPrompt.length
  for (const tool of tools) tokens += tool.description.length
  let since = 0
  let counted: number | undefined
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message === undefined) continue
    if (counted === undefined && message.role === 'assistant' && message.usage.totalTokens > 0) counted = since + message.usage.totalTokens
    const length = lengthOf(message)
    since += length
    tokens += length
  }
  return Math.max(tokens, counted ?? 0)
}

function lengthOf(message: AgentMessage): number {
  let length = lengths.get(message)
  if (length === undefined) {
    length = JSON.stringify(message).length
    lengths.set(message, length)
  }
  return length
}
