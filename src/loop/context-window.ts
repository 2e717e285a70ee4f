import { compactionTrigger, type ResolvedContext, resolveContext } from '../context/tokens/context-limits.ts'
import { heuristicTokenCounter } from '../context/tokens/estimate.ts'
import { PromptMeter } from '../context/tokens/prompt-size.ts'
import type { TokenCounter } from '../types/context/compaction.ts'
import type { LoopConfig } from './loop-config.ts'
import type { RequestView } from './view/request-view.ts'

/** How long the prompt of one loop may get, how long it is, and what of the history is sent. */
export class ContextWindow {
  /** `undefined` where nothing is ever compacted. */
  limits: ResolvedContext | undefined
  /** How large the prompt is. */
  meter: PromptMeter
  /** What of the history is sent; `undefined` while that is all of it. See `loadView`. */
  view: RequestView | undefined
  /** How many messages were looked at for media; `undefined` once their counter is there. */
  searched: number | undefined = 0

  constructor({ contextConfig, model, maxTokens: given }: LoopConfig, systemPrompt: string) {
    const { contextWindow, maxTokens } = model.config
    this.limits = resolveContext(contextConfig, { contextWindow, maxTokens: given ?? maxTokens }, { systemPrompt })
    this.meter = new PromptMeter(this.limits ?? { counter: heuristicTokenCounter, systemPromptTokens: 0 })
  }

  /** How tokens are estimated. */
  get counter(): TokenCounter {
    return this.limits?.counter ?? heuristicTokenCounter
  }

  /** From how many tokens on the history is compacted. */
  get trigger(): number {
    return this.limits === undefined ? Infinity : compactionTrigger(this.limits)
  }

  /** Estimates by `counter` from now on. */
  countBy(counter: TokenCounter): void {
    if (this.limits === undefined || this.limits.counter === counter) return
    this.limits = { ...this.limits, counter }
    this.meter = new PromptMeter(this.limits)
  }
}
