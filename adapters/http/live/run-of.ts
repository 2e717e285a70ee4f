import type { AgentRun } from '../../../src/index.ts'
import { ProblemError, refuse } from '../access/problem.ts'
import type { LiveSession } from './live-session.ts'

/** The run of this loop, or of this id. Refuses with 410 where its events are gone, and 404 where it never was. */
export async function runOf(live: LiveSession, place: { loopId: string; runId?: string }): Promise<AgentRun> {
  const run = await live.runOf(place)
  if (run !== undefined) return run
  const { loopId } = place
  const trace = await live.recorded.trace(loopId, (await live.currentRun())?.loopId)
  if (trace === undefined) refuse(404, 'notFound', 'There is no such run. Take loopId from its events.')
  const next = trace.continuedBy === undefined ? '' : ' Then read the events of the loop that goes on with it.'
  const detail = `The events of this run are gone; what came of it is in the session.${next}`
  throw new ProblemError({ status: 410, code: 'gone', detail, loopId, ...trace })
}
