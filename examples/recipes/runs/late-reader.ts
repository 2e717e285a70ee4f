import { type AgentEvent, type AgentRun, CursorExpiredError } from 'phi-core'

/** Continues after the cursor `after`, for example after a page reload. If the cursor has expired, starts at the oldest valid one. */
export function readOn(run: AgentRun, after: number): AsyncIterable<AgentEvent> {
  try {
    return run.events({ after })
  } catch (error) {
    if (error instanceof CursorExpiredError) return run.events({ after: error.oldest })
    throw error
  }
}
