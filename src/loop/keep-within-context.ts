import { JournalError } from '../types/errors.ts'
import type { AgentMessage } from '../types/message.ts'
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

/** With the default limits, a quick look saves most programs from loading what counts exactly. */
function isFarFromFull({ config, context }: LoopRun): boolean {
  return (
    config.contextConfig === undefined && mostTokens(context.messages) < Math.min(100_000, config.model.config.contextWindow) * 0.85 - 4000
  )
}

/** No fewer tokens than `messages` can have: what the service counted at its last answer, and one for every character since. */
function mostTokens(messages: readonly AgentMessage[]): number {
  let tokens = 0
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message?.role === 'assistant' && message.usage.totalTokens > 0) return tokens + message.usage.totalTokens
    tokens += JSON.stringify(message).length
  }
  return tokens
}
