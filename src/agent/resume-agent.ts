import { checkStore } from '../base/argument-checks.ts'
import { logWarning } from '../base/log-warning.ts'
import { SessionError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFlag, aText, options as optionsOf } from '../contract/shape/shape.ts'
import { snapshotOf } from '../session/views/snapshot-of.ts'
import type { SessionStore } from '../types/session/session-store.ts'
import { Agent } from './agent.ts'
import { type AgentOptions, agentTable } from './agent-options.ts'

/** Options for a resumed agent. */
export interface ResumeOptions<Output = unknown> extends Omit<AgentOptions<Output>, 'session' | 'sessionId' | 'agentId' | 'messages'> {
  /** Id of the loop to continue from. Default: the last loop. */
  loopId?: string
  /** Creates the session if it does not exist. Default: rejects with `notFound`. */
  create?: boolean
}

const { session: _store, sessionId: _session, agentId: _agent, messages: _history, ...ofAgent } = agentTable
const resumeOptions = optionsOf<ResumeOptions>({ ...ofAgent, loopId: aText, create: aFlag })

/**
 * Resumes an agent from a stored session, in this or another process, and continues recording to it. Restores history, node ids,
 * compaction, prunes, reverts and loop counters.
 *
 * **Contract**
 * - Settings, model and tools come from `options`.
 * - A call that a process exit interrupted gets an error result with unknown outcome. Only calls of idempotent tools are rerun.
 *   `agent.continueLoop()` continues the interrupted loop. `agent.send()` adds input.
 * - If the log is damaged, restores the longest valid prefix and logs `sessionDamaged`. `store.tail` reports the damage too.
 * - Writes nothing until the first run, which takes over the session. The previous writer's next record then fails (`journal`, caused by
 *   `conflict`). The run first adds records that other processes wrote in the meantime.
 * - Rejects with `SessionError`: `notFound`, `invalidId` or `io`, and `invalidSession` if nothing can be read.
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
  return new SessionError('invalidSession', `Session ${sessionId} is unreadable: ${reason} Start a new session.`)
}
