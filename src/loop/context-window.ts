import { compactionTrigger, type ResolvedContext, resolveContext } from '../context/context-config.ts'
import { contextTokens } from '../context/context-tokens.ts'
import { renderNodes } from '../context/render-nodes.ts'
import { heuristicTokenCounter } from '../context/tokens.ts'
import { deriveView } from '../context/view.ts'
import type { TokenCounter } from '../types/compaction.ts'
import type { ContextState, RevertPolicy } from '../types/context-change.ts'
import type { AgentMessage } from '../types/message.ts'
import type { AgentContext, LoopConfig } from './loop-config.ts'

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
  #viewOf: unknown[] = []
  #view: readonly AgentMessage[] = []

  constructor(context: AgentContext, config: LoopConfig) {
    this.#context = context
    this.#revertPolicy = context.tools.find((tool) => tool.revertPolicy !== undefined)?.revertPolicy
    this.limits = resolveContext(config.contextConfig, config.model.config.contextWindow)
  }

  /** What of the history is sent, as the model reads it: in revert mode with the numbers of messages and with what was noted on them. */
  sent(): readonly AgentMessage[] {
    const view = this.#derived()
    if (this.#revertPolicy === undefined) return view
    return renderNodes(view, this.#context.state ?? {}, { policy: this.#revertPolicy, turnIndex: this.turnNumber() })
  }

  /** Turns of the whole conversation so far: what notes are as old as. */
  turnNumber(): number {
    return this.#context.messages.reduce((turns, { role }) => (role === 'assistant' ? turns + 1 : turns), 0)
  }

  /** Tokens of what is sent, as a prompt: counted by the service where it has, estimated otherwise. */
  tokens(): number {
    return contextTokens(this.sent(), this.#context.state ?? {}, this.counter)
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

  #derived(): readonly AgentMessage[] {
    const { messages, state } = this.#context
    if (state === undefined) return messages
    const viewOf = [messages, messages.length, state]
    if (viewOf.some((part, at) => part !== this.#viewOf[at])) {
      this.#view = deriveView(messages, state)
      this.#viewOf = viewOf
    }
    return this.#view
  }
}
