import { checkStore } from '../../base/argument-checks.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { Session } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, options as optionsOf } from '../../contract/shape/shape.ts'
import type { SessionStore } from '../../types/session/session-store.ts'
import { withJournal } from './session-journal.ts'

/** Hooks called when a session starts and when an agent closes. Their return values are ignored. */
export interface TaskHooks {
  /**
   * Called when the first loop in a new session has started. The run awaits the hook. An error ends the run before the first model call.
   */
  beforeTask?: (session: Session) => unknown
  /** Called when an agent that wrote to the session was closed. `agent.close()` awaits the hook and rejects with its error. */
  afterTask?: (session: Session) => unknown
}

const taskHooks = optionsOf<TaskHooks>({ beforeTask: aFunction, afterTask: aFunction })

/**
 * Returns `store` with hooks that run when a session starts and when an agent closes.
 *
 * **Contract**
 * - `beforeTask` is called once per session, not when an agent resumes it. `afterTask` is called for each session that a closed agent
 *   wrote to, with the stored session.
 * - Throws `ConfigError` `invalidOption` for an unknown hook.
 * - The hooks also run for sub-agent sessions.
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
