import type { AgentEvent } from '../../src/index.ts'
import type { LoopFacts } from './conventions.ts'

/** The trace of a loop that is fed with its events. */
export interface ReadTrace {
  event(event: AgentEvent): void
  /** Ends it where it stands. */
  cut(at?: number): void
}

/**
 * Loops of which only the events are known: those of a remote session, and those that a tool started by itself. Each is traced from its `agentStart`
 * to its `agentEnd`; of one that began unseen nothing is.
 */
export class ReadLoops {
  readonly #begin: (facts: LoopFacts, at: number) => ReadTrace
  readonly #open = new Map<string, ReadTrace>()

  constructor(begin: (facts: LoopFacts, at: number) => ReadTrace) {
    this.#begin = begin
  }

  event(event: AgentEvent): void {
    const { runId, at } = event
    if (event.type === 'agentStart' && !this.#open.has(runId)) {
      const { loopId, sessionId, agentId, agentName, configSnapshot } = event
      const { model: id, provider, api, baseUrl } = configSnapshot
      const model = { id, provider, api, baseUrl }
      const facts = { runId, loopId, sessionId, agentId, ...(agentName !== undefined && { agentName }), model }
      this.#open.set(runId, this.#begin(facts, at))
    }
    this.#open.get(runId)?.event(event)
    if (event.type === 'agentEnd') this.#open.delete(runId)
  }

  /** Ends what is open, but for the run `except`. */
  cut(at?: number, except?: string): void {
    for (const [runId, trace] of this.#open) {
      if (runId === except) continue
      trace.cut(at)
      this.#open.delete(runId)
    }
  }
}
