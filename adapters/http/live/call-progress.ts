import type { AgentEvent } from '../../../src/index.ts'

/** Tracks the current run's tool calls, because the history receives results only when all calls of a step have ended. */
export class CallProgress {
  #runId: string | undefined
  readonly #resolved = new Set<string>()
  readonly #begun = new Set<string>()

  /** Processes a run event. Resets for a later run, and for a new response, because ids may repeat. */
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

  /** Returns whether the run `runId` has started this call from its newest response. A started call is no longer pending. */
  hasBegun(runId: string, toolCallId: string): boolean {
    return runId === this.#runId && this.#begun.has(toolCallId)
  }

  /** Returns whether the run `runId` has emitted the decision or the client's result for this call. */
  hasResolved(runId: string, toolCallId: string): boolean {
    return runId === this.#runId && this.#resolved.has(toolCallId)
  }

  #begin(runId: string): void {
    this.#runId = runId
    this.#resolved.clear()
    this.#begun.clear()
  }
}
