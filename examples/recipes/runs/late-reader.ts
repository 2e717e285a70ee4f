import { type AgentEvent, type AgentRun, CursorExpiredError } from 'phi-core'

/** Reads on after the cursor `after`, as a page does that was reloaded; with too old a cursor, from the oldest that still works. */
export function readOn(run: AgentRun, after: number): AsyncIterable<AgentEvent> {
  try {
    return run.events({ after })
  } catch (error) {
    if (error instanceof CursorExpiredError) return run.events({ after: error.oldest })
    throw error
  }
}
