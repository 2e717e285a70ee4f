import type { AgentEvent } from '../../../src/index.ts'

/** Tracks what became of the tool calls of the current run: the history gets their results only when the whole step has ended. */
export class CallProgress {
  #runId: string | undefined
  readonly #resolved = new Set<string>()
  readonly #begun = new Set<string>()

  /** Takes an event of a run. A later run begins anew, and a new response may repeat ids. */
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

  /** Whether the run `runId` has begun this call of its newest response: nobody is asked about it any more. */
  hasBegun(runId: string, toolCallId: string): boolean {
    return runId === this.#runId && this.#begun.has(toolCallId)
  }

  /** Whether the run `runId` has said what a person decided, or a page returned, for this call. */
  hasResolved(runId: string, toolCallId: string): boolean {
    return runId === this.#runId && this.#resolved.has(toolCallId)
  }

  #begin(runId: string): void {
    this.#runId = runId
    this.#resolved.clear()
    this.#begun.clear()
  }
}
