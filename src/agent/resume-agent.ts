import { checkStore } from '../base/argument-checks.ts'
import { logWarning } from '../base/log-warning.ts'
import { SessionError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFlag, aText, options as optionsOf } from '../contract/shape/shape.ts'
import { snapshotOf } from '../session/views/snapshot-of.ts'
import type { SessionStore } from '../types/session/session-store.ts'
import { Agent } from './agent.ts'
import { type AgentOptions, agentTable } from './agent-options.ts'

/** How a stored session is taken up again. */
export interface ResumeOptions<Output = unknown> extends Omit<AgentOptions<Output>, 'session' | 'sessionId' | 'agentId' | 'messages'> {
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
 * - If the log is damaged, its longest valid part is used; the loss is logged as `sessionDamaged`. `store.tail` says it too.
 * - Nothing is written before the agent's first run, which takes over from any other writer: that one is told with its next record (`journal`,
 *   caused by `conflict`). Records that others have written in between are taken into the history, and the run goes on from there.
 * - Rejects with `SessionError`: `notFound`, `invalidId`, `io`; `invalidSession` where nothing can be read.
 *
 * Source: docs/concepts/sessions.md
 */
export async function resumeAgent<Output = unknown>(
  store: SessionStore,
  sessionId: string,
  options: ResumeOptions<Output>,
): Promise<Agent<Output>> {
  checkStore(store)
  checkOptions(options, resumeOptions)
  const { loopId, create = false, ...settings } = options
  const tail = await store.tail(sessionId).catch((error: unknown) => {
    if (create && SessionError.isInstance(error) && error.code === 'notFound') return undefined
    throw error
  })
  if (tail === undefined) return unbegun(store, sessionId, settings)
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

/** For a session that is not there; where somebody else begins it meanwhile, the agent goes on with that. */
function unbegun<Output>(
  session: SessionStore,
  sessionId: string,
  settings: Omit<ResumeOptions<Output>, 'loopId' | 'create'>,
): Agent<Output> {
  const agent = new Agent({ ...settings, session, sessionId })
  const { settings: _, ...nothing } = agent.checkpoint()
  const { messages, state } = nothing
  agent.restore(nothing, session.journal({ resume: { sessionId, cursor: 0, loopId: undefined, messages, state, recovered: [] } }))
  return agent
}

function unreadable(sessionId: string, reason = 'it has no records.'): SessionError {
  return new SessionError('invalidSession', `Nothing of session ${sessionId} can be read: ${reason} Begin another one.`)
}
