import { Agent, type Model } from 'phi-core'
import { type CompactionConfig, llmCompaction } from 'phi-core/context'

/** A smaller model writes the summaries, and is told what matters. */
export function withSummaries(model: Model, smaller: Model): Agent {
  const compaction: Partial<CompactionConfig> = {
    strategy: llmCompaction({ model: smaller }),
    focusMessage: 'Keep every file name and every decision.',
    scope: { type: 'tokenBudget' }, // in a chat every prompt is a loop of its own
  }
  return new Agent({ model, contextConfig: { compaction } })
}
