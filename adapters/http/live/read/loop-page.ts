import { type LoopRecord, type SessionRecord, sessionOf } from '../../../../src/session/index.ts'
import { refuse } from '../../access/problem.ts'
import type { PageQuery } from './history-page.ts'
import { endsOf, type LastOf } from './log-end.ts'

/** A loop as the end of a log says it: the session has one agent, which its beginning names. */
export type PagedLoop = Omit<LoopRecord, 'agentId'>

/** Some of the loops of a session, in order. */
export interface LoopPage {
  loops: PagedLoop[]
  /** Whether others began before them. */
  hasEarlier: boolean
}

/** Records that are read first for one loop. */
const recordsPerLoop = 8

/** The last loops, or those before the one with this id, of no more of the log than that takes. Refuses with 400 `invalidCursor` where there is no such loop. */
export async function readLoops(lastOf: LastOf, sessionId: string, { limit, before }: PageQuery): Promise<LoopPage> {
  for await (const { records, isWhole } of endsOf(lastOf, limit * recordsPerLoop)) {
    const loops = begunIn(records, sessionId)
    const end = before === undefined ? loops.length : loops.findIndex(({ loopId }) => loopId === before)
    const start = Math.max(0, end - limit)
    if (end > limit || (isWhole && end >= 0)) return { loops: loops.slice(start, end), hasEarlier: start > 0 }
  }
  refuse(400, 'invalidCursor', 'The session has no loop with this id. Read its loops again from the end.')
}

/** The loops whose beginning is among the records: what they say of these is all there is. */
function begunIn(records: readonly SessionRecord[], sessionId: string): PagedLoop[] {
  const begun = new Set(records.flatMap(({ entry, loopId }) => (entry.type === 'loopStart' || entry.type === 'loop' ? [loopId] : [])))
  const whole = sessionOf(records, sessionId).loops.filter(({ loopId }) => begun.has(loopId))
  return whole.map(({ agentId: _ofBeginning, ...loop }) => loop)
}
