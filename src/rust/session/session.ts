import { SessionError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { type AgentMessage, callsToAnswer } from '../../contract/message/message.ts'
import { type LoopRecord, type Session, session as sessionShape } from '../../contract/session/session.ts'
import { parseStored } from '../../contract/shape/read.ts'
import { anything, listOf } from '../../contract/shape/shape.ts'
import { getLoop, loopChainTo } from '../../session/views/navigation.ts'
import { objectAt } from '../values.ts'
import { readSpec, writeSpec } from '../walk.ts'
import { type LoopContext, loopFromSpec, loopToSpec } from './loop.ts'

/**
 * A session as the Rust crate keeps it in `{session_id}.json`.
 *
 * **Contract**
 * - Written as the crate would: absent values as `null` or not at all, times in UTC with up to nanoseconds, its words for status. Statuses that
 *   share a word (`error`, `aborted` and `interrupted` are `Aborted`, `limit` and `paused` `Completed`) are told apart by `nativeStatus`, a key
 *   that it ignores, like `title`, `error`, `base`, `prunes`, `reverts`, `overlay` and the ids of messages.
 * - No event of a type the crate does not know is written, for that costs it the whole file.
 * - An overlay is also a `compaction_block` where it covers one loop only, the first; elsewhere the crate sends the history as it is.
 * - `sessionFromSpec` gives the same session back, with keys that nobody knows, but for those events, and for turns that have neither an answer
 *   nor a call of an earlier one.
 *
 * Source: docs/migrate/rust.md
 */
export function sessionToSpec(session: Session): JsonObject {
  const context = contextOf(session)
  const spec = objectAt(writeSpec(sessionShape, { ...session, loops: [] }), 'session')
  return { ...spec, loops: session.loops.map((loop) => loopToSpec(loop, context)) }
}

/**
 * Reads a session of the Rust crate, or of `sessionToSpec`, from its JSON.
 *
 * **Contract**
 * - Throws `SessionError` `invalidSession` for what the crate refuses too, with the path, such as
 *   `session.loops[0].usage.input: expected integer from 0, got number`.
 * - Written again it is what was read: times keep their nanoseconds, unknown keys their place, events everything. For this, objects carry keys
 *   beyond their type: `specTimes`, `specBlock`, `specEvent`.
 * - Messages without an id get one that depends on their place alone. `Aborted` without `nativeStatus` is `interrupted`.
 * - A `compaction_block` becomes an overlay where one can say the same: in the first loop, when its sections follow each other.
 */
export function sessionFromSpec(json: unknown): Session {
  return asSession(() => {
    const { loops, ...rest } = objectAt(json, 'session')
    const session = readSpec(sessionShape, { ...rest, loops: [] }, 'session')
    const found: readonly unknown[] = readSpec(listOf(anything), loops, 'session.loops')
    return { ...session, loops: found.map((loop, index) => loopFromSpec(loop, `session.loops[${index}]`)) }
  })
}

/** The text of `{session_id}.json`: as {@link sessionToSpec}, indented by two spaces. */
export function sessionToSpecJson(session: Session): string {
  return JSON.stringify(sessionToSpec(session), null, 2)
}

/** Reads the text of `{session_id}.json`. Throws as {@link sessionFromSpec}, also for what is no JSON. */
export function sessionFromSpecJson(text: string): Session {
  return asSession(() => sessionFromSpec(parseStored(text, 'session')))
}

function asSession(read: () => Session): Session {
  try {
    return read()
  } catch (error) {
    if (!SessionError.isInstance(error)) throw error
    throw new SessionError('invalidSession', error.message)
  }
}

function contextOf(session: Session): LoopContext {
  const messages = new Map<string, AgentMessage>()
  for (const loop of session.loops) for (const message of historyPart(loop)) messages.set(message.id, message)
  return {
    message: (id) => messages.get(id),
    callerOf: (loopId, toolCallId) => {
      const earlier = loopChainTo(session, loopId).flatMap((id) => historyPart(getLoop(session, id)))
      return earlier.findLast(
        (message) => message.role === 'assistant' && callsToAnswer(message.content).some(({ id }) => id === toolCallId),
      )
    },
  }
}

function historyPart(loop: LoopRecord | undefined): AgentMessage[] {
  return [...(loop?.base?.messages ?? []), ...(loop?.messages ?? [])]
}
