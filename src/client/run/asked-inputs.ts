import { ConfigError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingInput } from '../../contract/run/run-facts.ts'

/** What the calls of a run ask, as its events told. */
export class AskedInputs {
  #waiting: PendingInput[] = []

  take(event: AgentEvent): void {
    if (event.type === 'inputResolved') this.#waiting = this.#waiting.filter(({ inputId }) => inputId !== event.inputId)
    // Whoever asks is gone with the loop that it was part of.
    else if (event.type === 'agentStart' || event.type === 'agentEnd') this.#waiting = []
    else if (event.type === 'inputRequested') {
      const { type: _type, runId: _run, seq: _seq, at: _at, sessionId: _session, loopId: _loop, ...pending } = event
      this.#waiting = [...this.#waiting, pending]
    }
  }

  pending(): PendingInput[] {
    return [...this.#waiting]
  }

  /** Throws `ConfigError` `unknownInput` where no such request waits. */
  assertWaits(id: string): void {
    if (this.#waiting.some(({ inputId }) => inputId === id)) return
    throw new ConfigError('unknownInput', `No request for input "${id}" waits. See pendingInputs().`)
  }
}
