import { Agent, type Model } from 'phi-core'
import { type CompactionConfig, llmCompaction } from 'phi-core/context'

/** Uses a smaller model for summaries. The focus message says what they must contain. */
export function withSummaries(model: Model, smaller: Model): Agent {
  const compaction: Partial<CompactionConfig> = {
    strategy: llmCompaction({ model: smaller }),
    focusMessage: 'Keep every file name and every decision.',
    scope: { type: 'tokenBudget' }, // In a chat, every prompt is a loop.
  }
  return new Agent({ model, contextConfig: { compaction } })
}
