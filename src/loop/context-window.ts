import { renderNodes } from '../context/prune-revert/render-nodes.ts'
import { compactionTrigger, type ResolvedContext, resolveContext } from '../context/tokens/context-limits.ts'
import { heuristicTokenCounter } from '../context/tokens/estimate.ts'
import { PromptMeter, type PromptSize } from '../context/tokens/prompt-size.ts'
import { GrowingView } from '../context/view/derive-view.ts'
import type { TokenCounter } from '../types/compaction.ts'
import type { ContextState, RevertPolicy } from '../types/context-change.ts'
import type { AgentMessage } from '../types/message.ts'
import type { AgentContext, LoopConfig } from './loop-config.ts'

const noState: ContextState = {}

/**
 * What of the history one loop sends, and how much room it takes. Loaded when that is more than the history as it is.
 *
 * **Contract**: the view is derived anew only after the history or its state has changed; unchanged messages keep their identity.
 */
export class ContextWindow {
  /** Absent where nothing is ever compacted. */
  readonly limits: ResolvedContext | undefined
  readonly #context: AgentContext
  readonly #revertPolicy: RevertPolicy | undefined
  readonly #view = new GrowingView()
  readonly #meter: PromptMeter

  constructor(context: AgentContext, config: LoopConfig) {
    this.#context = context
    this.#revertPolicy = context.tools.find((tool) => tool.revertPolicy !== undefined)?.revertPolicy
    const { contextWindow, maxTokens } = config.model.config
    this.limits = resolveContext(
      config.contextConfig,
      { contextWindow, maxTokens: config.maxTokens ?? maxTokens },
      { systemPrompt: context.systemPrompt },
    )
    this.#meter = new PromptMeter(this.limits ?? { counter: heuristicTokenCounter, systemPromptTokens: 0 })
  }

  /** What of the history is sent, as the model reads it: in revert mode with the numbers of messages and with what was noted on them. */
  sent(): readonly AgentMessage[] {
    const view = this.#view.of(this.#context.messages, this.#context.state)
    if (this.#revertPolicy === undefined) return view
    return renderNodes(view, this.#context.state ?? {}, { policy: this.#revertPolicy, turnIndex: this.turnNumber() })
  }

  /** Turns of the whole conversation so far: what notes are as old as. */
  turnNumber(): number {
    return this.#context.messages.reduce((turns, { role }) => (role === 'assistant' ? turns + 1 : turns), 0)
  }

  /** How large the prompt is that is sent now. */
  size(): PromptSize {
    return this.#meter.measure(this.sent(), this.#context.state ?? noState)
  }

  /** How tokens are estimated. */
  get counter(): TokenCounter {
    return this.limits?.counter ?? heuristicTokenCounter
  }

  /** From how many tokens on the history is compacted. */
  get trigger(): number {
    return this.limits === undefined ? Infinity : compactionTrigger(this.limits)
  }

  /** Sends something else of the history from now on. */
  change(changes: Partial<ContextState>): void {
    this.#context.state = { ...this.#context.state, ...changes }
  }
}
