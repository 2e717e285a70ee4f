import { compactionTrigger, type ResolvedContext } from '../../context/context-config.ts'
import { contextTokens } from '../../context/context-tokens.ts'
import { renderNodes } from '../../context/render-nodes.ts'
import { activeNodeId, nextNodeId } from '../../context/revert.ts'
import { heuristicTokenCounter } from '../../context/tokens.ts'
import { deriveView } from '../../context/view.ts'
import type { TokenCounter } from '../../types/compaction.ts'
import type { ContextState, RevertPolicy } from '../../types/context-change.ts'
import type { AgentMessage } from '../../types/message.ts'
import type { AgentContext } from '../loop-config.ts'

/**
 * What of the history one loop sends, and how much room it takes.
 *
 * **Contract**
 * - The view is derived anew only after the history or its state has changed; unchanged messages keep their identity.
 * - Where a tool can go back, messages have numbers: they count up over the whole history, and each names the one it follows.
 *
 * Source: docs/concepts/context-and-compaction.md, docs/concepts/revert.md
 */
export class RequestView {
  /** Absent where nothing is ever compacted. */
  readonly room: ResolvedContext | undefined
  readonly #context: AgentContext
  readonly #revertPolicy: RevertPolicy | undefined
  #nextNodeId = 0
  #parentNodeId: number | undefined
  #viewOf: unknown[] = []
  #view: readonly AgentMessage[] = []

  constructor(context: AgentContext, room: ResolvedContext | undefined) {
    this.#context = context
    this.room = room
    this.#revertPolicy = context.tools.find((tool) => tool.revertPolicy !== undefined)?.revertPolicy
    if (this.#revertPolicy === undefined) return
    this.#nextNodeId = nextNodeId(context.messages)
    this.#parentNodeId = activeNodeId(context.messages, context.state?.reverts ?? [])
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
    return this.room?.counter ?? heuristicTokenCounter
  }

  /** From how many tokens on the history is compacted. */
  get trigger(): number {
    return this.room === undefined ? Infinity : compactionTrigger(this.room)
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
