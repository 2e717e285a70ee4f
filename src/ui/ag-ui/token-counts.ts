import type { AssistantMessage } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgUiTokenUsage } from './ag-ui-event.ts'

/** A run's token usage, per model. */
export class TokenCounts {
  readonly #counts = new Map<string, AgUiTokenUsage>()

  add({ provider, model, usage }: AssistantMessage): void {
    const key = `${provider}/${model}`
    this.#counts.set(key, { provider, model, ...sum(this.#counts.get(key), countsOf(usage)) })
  }

  /** Resets the counts, because a new stream reports only its own calls. */
  clear(): void {
    this.#counts.clear()
  }

  /** Lists the usage per model. `total` is the run's total usage. Usage beyond the counted model calls is listed without a model name. */
  list(total?: Usage): AgUiTokenUsage[] {
    const counts = [...this.#counts.values()]
    if (total === undefined) return counts
    const rest = countsOf(total)
    for (const count of counts) for (const key of keys) rest[key] -= count[key]
    return rest.totalTokens > 0 && keys.every((key) => rest[key] >= 0) ? [...counts, rest] : counts
  }
}

type Counts = Omit<AgUiTokenUsage, 'provider' | 'model'>

function countsOf({ input, output, reasoning, cacheRead, cacheWrite }: Usage): Counts {
  const inputTokens = input + cacheRead + cacheWrite
  return {
    inputTokens,
    outputTokens: output,
    totalTokens: inputTokens + output,
    reasoningTokens: reasoning,
    cachedInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  }
}

const keys = ['inputTokens', 'outputTokens', 'totalTokens', 'reasoningTokens', 'cachedInputTokens', 'cacheWriteInputTokens'] as const

function sum(before: Counts | undefined, counts: Counts): Counts {
  if (before !== undefined) for (const key of keys) counts[key] += before[key]
  return counts
}
