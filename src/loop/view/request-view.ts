import { renderNodes } from '../../context/prune-revert/render-nodes.ts'
import { activeNodeId, nextNodeId } from '../../context/prune-revert/revert.ts'
import type { PromptMeter, PromptSize } from '../../context/tokens/prompt-size.ts'
import { GrowingView } from '../../context/view/derive-view.ts'
import type { ContextState, RevertPolicy } from '../../contract/context/context-change.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentContext } from '../loop-config.ts'

const noState: ContextState = {}

/** Measures a prompt. */
interface Measured {
  readonly meter: PromptMeter
}

/**
 * View of the history for requests, and its size.
 *
 * **Contract**
 * - Processes only new entries of a growing history. Unchanged messages keep their identity.
 * - In revert mode, messages are numbered over the whole history, and each references its predecessor.
 *
 * Source: docs/concepts/context.md
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

  /** Returns the messages to send, in revert mode with numbers and notes. */
  sent(): readonly AgentMessage[] {
    const view = this.#view.of(this.#context.messages, this.#context.state)
    if (this.#revertPolicy === undefined) return view
    return renderNodes(view, this.#context.state ?? {}, { policy: this.#revertPolicy, turnIndex: this.turnNumber() })
  }

  /** Counts the turns in the whole conversation. The number determines the age of notes. */
  turnNumber(): number {
    return this.#context.messages.reduce((turns, { role }) => (role === 'assistant' ? turns + 1 : turns), 0)
  }

  /** Returns the size of the current prompt. */
  size(): PromptSize {
    return this.#measured.meter.measure(this.sent(), this.#context.state ?? noState)
  }

  /** Changes the context state. */
  change(changes: Partial<ContextState>): void {
    this.#context.state = { ...this.#context.state, ...changes }
  }

  /** Numbers a message before it enters the history, in revert mode. */
  number(message: AgentMessage): void {
    if (this.#revertPolicy === undefined || message.role === 'extension') return
    message.nodeId = this.#nextNodeId++
    if (this.#parentNodeId === undefined) delete message.parentId
    else message.parentId = this.#parentNodeId
    this.#parentNodeId = message.nodeId
  }

  /** Continues the conversation after the node `id`. */
  goBackTo(id: number): void {
    this.#parentNodeId = id
  }
}
