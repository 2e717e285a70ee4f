import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent } from '../../contract/run/event.ts'
import type { SubAgentRef } from '../../contract/run/run-facts.ts'

/** The branches of one prompt, where it has any. Only the one that is chosen is shown, once it is. */
export class BranchedLoops {
  readonly #messages = new Map<string, readonly AgentMessage[]>()

  begin(loopIds: readonly string[]): void {
    for (const id of loopIds) this.#messages.set(id, [])
  }

  has({ loopId }: AgentEvent): boolean {
    return this.#messages.has(loopId)
  }

  /** A branch has ended. */
  keep({ loopId, messages }: AgentEndEvent): void {
    this.#messages.set(loopId, messages)
  }

  messagesOf(loopId: string): readonly AgentMessage[] {
    return this.#messages.get(loopId) ?? []
  }
}

/** An event of a branch about an approval, as if a sub-agent asked: the answer that is shown does not hold the call. */
export function ofBranch<E extends { loopId: string; subAgent?: SubAgentRef }>(event: E): E & { subAgent: SubAgentRef } {
  const { loopId, subAgent = { toolCallId: loopId, toolName: 'branch', loopId } } = event
  return { ...event, subAgent }
}
