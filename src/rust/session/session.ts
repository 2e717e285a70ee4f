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
 * Converts a session to the JSON that the Rust crate stores in `{session_id}.json`.
 *
 * **Contract**
 * - Written as by the crate: absent values as `null` or omitted, times in UTC with up to nanoseconds, its status words. Several statuses
 *   share a word there (`error`, `aborted` and `interrupted` are `Aborted`, `limit` and `paused` `Completed`). `nativeStatus` distinguishes
 *   them. The crate ignores it, like `title`, `error`, `base`, `prunes`, `reverts`, `overlay` and message ids.
 * - Omits events that the crate does not know, because it would refuse the whole file.
 * - An overlay is also written as `compaction_block` if it covers only the first loop. Elsewhere the crate sends the whole history.
 * - `sessionFromSpec` restores the session with unknown keys, except for omitted events and for turns with neither a response nor a call
 *   of an earlier one.
 *
 * Source: docs/migrate/rust.md
 */
export function sessionToSpec(session: Session): JsonObject {
  const context = contextOf(session)
  const spec = objectAt(writeSpec(sessionShape, { ...session, loops: [] }), 'session')
  return { ...spec, loops: session.loops.map((loop) => loopToSpec(loop, context)) }
}

/**
 * Parses a session of the Rust crate, or of `sessionToSpec`, from its JSON.
 *
 * **Contract**
 * - Throws `SessionError` `invalidSession` with the path for input that the crate refuses too, such as `session.loops[0].usage.input:
 *   expected integer from 0, got number`.
 * - Writing it again gives the same JSON: times keep their nanoseconds, unknown keys their position, events all their data. For this,
 *   objects carry keys beyond their type: `specTimes`, `specBlock`, `specEvent`.
 * - Messages without an id get one that depends only on their position. `Aborted` without `nativeStatus` is `interrupted`.
 * - A `compaction_block` becomes an overlay if one is equivalent: in the first loop, with contiguous sections.
 */
export function sessionFromSpec(json: unknown): Session {
  return asSession(() => {
    const { loops, ...rest } = objectAt(json, 'session')
    const session = readSpec(sessionShape, { ...rest, loops: [] }, 'session')
    const found: readonly unknown[] = readSpec(listOf(anything), loops, 'session.loops')
    return { ...session, loops: found.map((loop, index) => loopFromSpec(loop, `session.loops[${index}]`)) }
  })
}

/** Returns the text of `{session_id}.json`: {@link sessionToSpec}, indented by two spaces. */
export function sessionToSpecJson(session: Session): string {
  return JSON.stringify(sessionToSpec(session), null, 2)
}

/** Parses the text of `{session_id}.json`. Throws like {@link sessionFromSpec}, also for invalid JSON. */
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
