import * as z from 'zod'
import { SessionError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { type AgentMessage, toolCallsOf } from '../../contract/message/message.ts'
import type { LoopRecord, Session } from '../../contract/session/session.ts'
import { parseStored } from '../../contract/shape/read.ts'
import { getLoop, loopChainTo } from '../../session/views/navigation.ts'
import { present, readSpec } from '../codec.ts'
import { unknownKeys } from './session-keys.ts'
import { formationSchema, formationToSpec, spawnRefSchema, spawnRefToSpec } from './session-links.ts'
import { type LoopContext, loopFromSpec, loopToSpec } from './session-loop.ts'
import { exactTimes, timeSchema, writeTime } from './session-time.ts'

const names = {
  sessionId: 'session_id',
  agentId: 'agent_id',
  createdAt: 'created_at',
  lastActiveAt: 'last_active_at',
  formation: 'formation',
  parentSpawnRef: 'parent_spawn_ref',
  scope: 'scope',
  title: 'title',
  loops: 'loops',
} as const satisfies Record<keyof Session, string>

const sessionSchema = z.looseObject({
  session_id: z.string(),
  agent_id: z.string(),
  created_at: timeSchema,
  last_active_at: timeSchema,
  formation: formationSchema,
  parent_spawn_ref: spawnRefSchema.nullish(),
  scope: z.enum(['ephemeral', 'persistent']).default('ephemeral'),
  title: z.string().nullish(),
  loops: z.array(z.unknown()),
})

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
 * Source: docs/coming-from-rust.md
 */
export function sessionToSpec(session: Session): JsonObject {
  const { sessionId, agentId, createdAt, lastActiveAt, formation, parentSpawnRef, scope, title, loops } = session
  const context = contextOf(session)
  return {
    ...unknownKeys(session, names),
    session_id: sessionId,
    agent_id: agentId,
    created_at: writeTime(session, 'created_at', createdAt),
    last_active_at: writeTime(session, 'last_active_at', lastActiveAt),
    formation: formationToSpec(formation),
    parent_spawn_ref: parentSpawnRef === undefined ? null : spawnRefToSpec(parentSpawnRef),
    scope,
    ...(title !== undefined && { title }),
    loops: loops.map((loop) => loopToSpec(loop, context)),
  }
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
  try {
    const spec = readSpec(sessionSchema, json, 'session')
    return {
      ...unknownKeys(spec, names),
      ...exactTimes({ created_at: spec.created_at, last_active_at: spec.last_active_at }),
      sessionId: spec.session_id,
      agentId: spec.agent_id,
      createdAt: spec.created_at.at,
      lastActiveAt: spec.last_active_at.at,
      formation: spec.formation,
      ...present('parentSpawnRef', spec.parent_spawn_ref),
      ...present('title', spec.title),
      scope: spec.scope,
      loops: spec.loops.map((loop, index) => loopFromSpec(loop, `session.loops[${index}]`)),
    }
  } catch (error) {
    if (!SessionError.isInstance(error)) throw error
    throw new SessionError('invalidSession', error.message)
  }
}

/** The text of `{session_id}.json`: as {@link sessionToSpec}, indented by two spaces. */
export function sessionToSpecJson(session: Session): string {
  return JSON.stringify(sessionToSpec(session), null, 2)
}

/** Reads the text of `{session_id}.json`. Throws as {@link sessionFromSpec}, also for what is no JSON. */
export function sessionFromSpecJson(text: string): Session {
  try {
    return sessionFromSpec(parseStored(text, 'session'))
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
      return earlier.findLast((message) => message.role === 'assistant' && toolCallsOf(message.content).some(({ id }) => id === toolCallId))
    },
  }
}

function historyPart(loop: LoopRecord | undefined): AgentMessage[] {
  return [...(loop?.base?.messages ?? []), ...(loop?.messages ?? [])]
}
