import type { AgentEvent } from '../../../src/index.ts'

/** Tracks the tool calls of the current run. The history gets their results only when the whole step has ended. */
export class CallProgress {
  #runId: string | undefined
  readonly #resolved = new Set<string>()
  readonly #begun = new Set<string>()

  /** Adds an event of a run. A later run resets, and so does a new response, because it may repeat ids. */
  take(event: AgentEvent): void {
    switch (event.type) {
      case 'agentStart':
        if (event.runId !== this.#runId) this.#begin(event.runId)
        return
      case 'messageStart':
        if (event.message.role === 'assistant') this.#begun.clear()
        return
      case 'approvalResolved':
      case 'clientCallResolved':
        this.#resolved.add(event.toolCallId)
        return
      case 'toolExecutionStart':
        this.#begun.add(event.toolCallId)
    }
  }

  /** Whether the run `runId` has started this call of its newest response, so that it no longer waits. */
  hasBegun(runId: string, toolCallId: string): boolean {
    return runId === this.#runId && this.#begun.has(toolCallId)
  }

  /** Whether the run `runId` has emitted the decision or the client's result for this call. */
  hasResolved(runId: string, toolCallId: string): boolean {
    return runId === this.#runId && this.#resolved.has(toolCallId)
  }

  #begin(runId: string): void {
    this.#runId = runId
    this.#resolved.clear()
    this.#begun.clear()
  }
}
