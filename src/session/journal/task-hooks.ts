import { checkStore } from '../../base/argument-checks.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { Session } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, options as optionsOf } from '../../contract/shape/shape.ts'
import type { SessionStore } from '../../types/session/session-store.ts'
import { withJournal } from './session-journal.ts'

/** Who is told that a session begins, and that it was closed. Both observe: what they return changes nothing. */
export interface TaskHooks {
  /** The first loop of a new session has begun. The run waits for it; what it throws ends the run before a model is asked. */
  beforeTask?: (session: Session) => unknown
  /** An agent that wrote to the session was closed. `agent.close()` waits for it, and rejects with what it throws. */
  afterTask?: (session: Session) => unknown
}

const taskHooks = optionsOf<TaskHooks>({ beforeTask: aFunction, afterTask: aFunction })

/**
 * A store that tells when agents begin and finish sessions in it; in everything else `store` itself.
 *
 * **Contract**
 * - `beforeTask` is called once in the life of a session: an agent that resumes one does not begin it. `afterTask` is called once for each
 *   session an agent has written to, with what is stored of it.
 * - Throws `ConfigError` `invalidOption` for a hook that there is not.
 * - Sub-agents have sessions of their own, which count like others.
 *
 * Source: docs/concepts/sessions.md
 *
 * @example
 * ```ts
 * const session = withTaskHooks(memorySessionStore(), { afterTask: ({ sessionId, loops }) => bill(sessionId, loops) })
 * const agent = new Agent({ model, session })
 * ```
 */
export function withTaskHooks<Store extends SessionStore>(store: Store, hooks: TaskHooks): Store {
  checkStore(store, 'journal')
  checkOptions(hooks, taskHooks, 'hooks')
  const { beforeTask, afterTask } = hooks
  return withJournal(store, (options) => {
    const journal = store.journal(options)
    const begun = new Set<string>()
    return {
      ...(journal.event !== undefined && { event: (event: AgentEvent) => journal.event?.(event) }),
      media: (sessionId, block) => journal.media(sessionId, block),
      open: (place, conversation) => journal.open(place, conversation),
      async append(record, conversation) {
        const { sessionId, loopId, entry } = record
        await journal.append(record, conversation)
        if (entry.type !== 'loopStart' || begun.has(sessionId)) return
        begun.add(sessionId)
        if (beforeTask === undefined) return
        const session = await store.load(sessionId)
        if (session.loops[0]?.loopId === loopId) await beforeTask(session)
      },
      async close() {
        await journal.close()
        const written = [...begun]
        begun.clear()
        if (afterTask !== undefined) for (const sessionId of written) await afterTask(await store.load(sessionId))
      },
    }
  })
}
