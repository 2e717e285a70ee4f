import { compactionTrigger, type ResolvedContext, resolveContext } from '../context/tokens/context-limits.ts'
import { heuristicTokenCounter } from '../context/tokens/estimate.ts'
import { PromptMeter } from '../context/tokens/prompt-size.ts'
import type { TokenCounter } from '../types/context/compaction.ts'
import type { LoopConfig } from './loop-config.ts'
import type { RequestView } from './view/request-view.ts'

/** A loop's prompt limits, current prompt size and view of the history. */
export class ContextWindow {
  /** Prompt limits. `undefined` if compaction is disabled. */
  limits: ResolvedContext | undefined
  /** Measures the prompt. */
  meter: PromptMeter
  /** The history's view. `undefined` while the whole history is sent. See `loadView`. */
  view: RequestView | undefined
  /** Number of messages already searched for media. `undefined` once the media token counter is loaded. */
  searched: number | undefined = 0

  constructor({ contextConfig, model, maxTokens: given }: LoopConfig, systemPrompt: string) {
    const { contextWindow, maxTokens } = model.config
    this.limits = resolveContext(contextConfig, { contextWindow, maxTokens: given ?? maxTokens }, { systemPrompt })
    this.meter = new PromptMeter(this.limits ?? { counter: heuristicTokenCounter, systemPromptTokens: 0 })
  }

  /** Estimates tokens. */
  get counter(): TokenCounter {
    return this.limits?.counter ?? heuristicTokenCounter
  }

  /** Number of tokens that triggers compaction. */
  get trigger(): number {
    return this.limits === undefined ? Infinity : compactionTrigger(this.limits)
  }

  /** Uses `counter` for later estimates. */
  countBy(counter: TokenCounter): void {
    if (this.limits === undefined || this.limits.counter === counter) return
    this.limits = { ...this.limits, counter }
    this.meter = new PromptMeter(this.limits)
  }
}
