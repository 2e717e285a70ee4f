import { renderNodes } from '../../context/prune-revert/render-nodes.ts'
import { activeNodeId, nextNodeId } from '../../context/prune-revert/revert.ts'
import type { PromptMeter, PromptSize } from '../../context/tokens/prompt-size.ts'
import { GrowingView } from '../../context/view/derive-view.ts'
import type { ContextState, RevertPolicy } from '../../contract/context/context-change.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentContext } from '../loop-config.ts'

const noState: ContextState = {}

/** How large a prompt is, by a meter that may change. */
interface Measured {
  readonly meter: PromptMeter
}

/**
 * What of the history one loop sends, and how much room it takes.
 *
 * **Contract**
 * - Of a history that has grown only what is new is looked at; unchanged messages keep their identity.
 * - Where a tool can go back, messages have numbers: they count up over the whole history, and each names the one it follows.
 *
 * Source: docs/concepts/context.md, docs/concepts/context.md
 */
export class RequestView {
  readonly #context: AgentContext
  readonly #revertPolicy: RevertPolicy | undefined
  #nextNodeId = 0
  #parentNodeId: number | undefined
  readonly #view = new GrowingView()
  readonly #measured: Measured

  constructor(context: AgentContext, measured: Measured) {
    this.#context = context
    this.#measured = measured
    this.#revertPolicy = context.tools.find((tool) => tool.revertPolicy !== undefined)?.revertPolicy
    if (this.#revertPolicy === undefined) return
    this.#nextNodeId = nextNodeId(context.messages)
    this.#parentNodeId = activeNodeId(context.messages, context.state?.reverts ?? [])
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
    return this.#measured.meter.measure(this.sent(), this.#context.state ?? noState)
  }

  /** Sends something else of the history from now on. */
  change(changes: Partial<ContextState>): void {
    this.#context.state = { ...this.#context.state, ...changes }
  }

  /** Numbers a message that is not yet in the history, where messages have numbers. */
  number(message: AgentMessage): void {
    if (this.#revertPolicy === undefined || message.role === 'extension') return
    message.nodeId = this.#nextNodeId++
    if (this.#parentNodeId === undefined) delete message.parentId
    else message.parentId = this.#parentNodeId
    this.#parentNodeId = message.nodeId
  }

  /** What comes next follows the node `id`. */
  goBackTo(id: number): void {
    this.#parentNodeId = id
  }
}
