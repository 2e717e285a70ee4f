import { aFlag, aText, checkOptions, options as optionsOf } from '../base/check-options.ts'
import { logWarning } from '../base/log-warning.ts'
import { snapshotOf } from '../session/views/snapshot-of.ts'
import { SessionError } from '../types/errors.ts'
import type { SessionStore } from '../types/session-store.ts'
import { Agent } from './agent.ts'
import { type AgentOptions, agentTable } from './agent-options.ts'

/** How a stored session is taken up again. */
export interface ResumeOptions extends Omit<AgentOptions, 'session' | 'sessionId' | 'agentId' | 'messages'> {
  /** The loop to go on from. Default: the one that ran last. */
  loopId?: string
  /** Begins the session where there is none. Default: that is `notFound`. */
  create?: boolean
}

const { session: _store, sessionId: _session, agentId: _agent, messages: _history, ...ofAgent } = agentTable
const resumeOptions = optionsOf<ResumeOptions>({ ...ofAgent, loopId: aText, create: aFlag })

/**
 * An agent that goes on with a session as `store` has it, in this or another process: history, node ids, compaction, prunes and reverts, and loop
 * ids that are not used twice. What it says is recorded in the same session.
 *
 * **Contract**
 * - Settings, model and tools are those of `options`.
 * - A call that was running when the process ended has an error result that says that its outcome is unknown; it is not run again, unless
 *   its tool is idempotent. `agent.continueLoop()` goes on where the session broke off, `agent.send()` says something more.
 * - Of a damaged log the longest valid part is used; what was lost is logged as `sessionDamaged`. `store.tail` says it too.
 * - Nothing is written before the agent's first run, which takes over from any other writer. When somebody else has written in between, that
 *   run ends with an error (`journal`, caused by `conflict`): resume again.
 * - Rejects with `SessionError`: `notFound`, `invalidId`, `io`; `invalidSession` where nothing can be read.
 *
 * Source: docs/concepts/sessions.md
 */
export async function resumeAgent(store: SessionStore, sessionId: string, options: ResumeOptions): Promise<Agent> {
  checkOptions(options, resumeOptions)
  const { loopId, create = false, ...settings } = options
  const tail = await store.tail(sessionId).catch((error: unknown) => {
    if (create && SessionError.isInstance(error) && error.code === 'notFound') return undefined
    throw error
  })
  if (tail === undefined) return new Agent({ ...settings, session: store, sessionId })
  const { records, cursor, damage } = tail
  if (damage !== undefined) logWarning(options.logger, 'sessionDamaged', { sessionId, ...damage })
  if (records.length === 0) throw unreadable(sessionId, damage?.reason)
  const { unfinished, settings: _, ...snapshot } = snapshotOf(records, { sessionId, ...(loopId !== undefined && { loopId }) })
  const journal = store.journal({
    resume: {
      sessionId,
      cursor,
      loopId: snapshot.lastLoopId,
      messages: snapshot.messages,
      state: snapshot.state,
      recovered: unfinished.recovered,
    },
  })
  const agent = new Agent({ ...settings, session: store, sessionId, agentId: snapshot.agentId })
  agent.restore(snapshot, journal)
  return agent
}

function unreadable(sessionId: string, reason = 'it has no records.'): SessionError {
  return new SessionError('invalidSession', `Nothing of session ${sessionId} can be read: ${reason} Begin another one.`)
}
