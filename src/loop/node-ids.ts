import { activeNodeId, nextNodeId } from '../context/prune-revert/revert.ts'
import type { AgentMessage } from '../types/message.ts'
import type { AgentContext } from './loop-config.ts'

/**
 * Numbers the messages of a run in revert mode: ids count up over the whole history, each message names the one it follows.
 * Source: reference/phi-core-0.10.md §1 "Node ids".
 */
export class NodeIds {
  #next: number
  #parent: number | undefined

  constructor(context: AgentContext) {
    this.#next = nextNodeId(context.messages)
    this.#parent = activeNodeId(context.messages, context.state?.reverts ?? [])
  }

  /** Numbers a message that is not yet in the history. */
  assign(message: AgentMessage): void {
    if (message.role === 'extension') return
    message.nodeId = this.#next++
    if (this.#parent === undefined) delete message.parentId
    else message.parentId = this.#parent
    this.#parent = message.nodeId
  }

  /** What comes next follows the node `id`. */
  goBackTo(id: number): void {
    this.#parent = id
  }
}
