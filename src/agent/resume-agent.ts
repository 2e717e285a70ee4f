import { checkStore } from '../base/argument-checks.ts'
import { logWarning } from '../base/log-warning.ts'
import { SessionError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFlag, aText, options as optionsOf } from '../contract/shape/shape.ts'
import { snapshotOf } from '../session/views/snapshot-of.ts'
import type { SessionStore } from '../types/session/session-store.ts'
import { Agent } from './agent.ts'
import { type AgentOptions, agentTable } from './agent-options.ts'

/** Options of a resumed agent. */
export interface ResumeOptions<Output = unknown> extends Omit<AgentOptions<Output>, 'session' | 'sessionId' | 'agentId' | 'messages'> {
  /** Loop to continue from. Default: the last one. */
  loopId?: string
  /** Creates the session if it does not exist. Default: rejects with `notFound`. */
  create?: boolean
}

const { session: _store, sessionId: _session, agentId: _agent, messages: _history, ...ofAgent } = agentTable
const resumeOptions = optionsOf<ResumeOptions>({ ...ofAgent, loopId: aText, create: aFlag })

/**
 * Resumes an agent from a stored session, in this or another process: history, node ids, compaction, prunes, reverts and unique loop ids.
 * It records to the same session.
 *
 * **Contract**
 * - Settings, model and tools come from `options`.
 * - A call interrupted by the end of the process gets an error result with unknown outcome. It is not rerun unless its tool is idempotent.
 *   `agent.continueLoop()` continues the interrupted loop; `agent.send()` adds input.
 * - For a damaged log, the longest valid prefix is used, and the loss is logged as `sessionDamaged`. `store.tail` reports it too.
 * - Nothing is written before the first run, which takes the session over. The previous writer fails on its next record (`journal`, caused
 *   by `conflict`). Records that others wrote in between are added to the history first.
 * - Rejects with `SessionError`: `notFound`, `invalidId`, `io`; `invalidSession` if nothing can be read.
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

/** Creates an agent for a missing session. If another process creates the session first, the agent continues that one. */
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
