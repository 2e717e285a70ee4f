import * as z from 'zod'
import type { CompactionOverlay } from '../../contract/context/context-change.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { type LoopRecord, loopRecordFields } from '../../contract/session/session.ts'
import { fits } from '../../contract/shape/read.ts'
import type { ShapeOf } from '../../contract/shape/shape.ts'
import { anyJson, count, fitting, present, readSpec } from '../codec.ts'
import { jsonObject } from '../content.ts'
import { failureSchema } from '../event/context-event-from-spec.ts'
import { continuationCodec, continuationSchema } from '../loop-words.ts'
import { messageCodec, messageSchema } from '../message.ts'
import { configSnapshotCodec, snapshotSchema } from '../snapshot.ts'
import { usageCodec, usageSchema } from '../usage.ts'
import { fromLedgerStatus, isLoopStatus, toLedgerStatus } from './loop-status.ts'
import { blockOfOverlay, blockOverlayId, blockSchema, blockToSpec, overlayOfBlock } from './session-block.ts'
import { eventsFromSpec, eventsToSpec } from './session-event.ts'
import { unknownKeys } from './session-keys.ts'
import { childRefSchema, childRefToSpec, groupSchema, groupToSpec } from './session-links.ts'
import { MessageIds, withoutMadeUpId } from './session-message-ids.ts'
import { exactTimes, timeSchema, writeTime } from './session-time.ts'
import { turnSchema, turnToSpec, withService } from './session-turn.ts'

/** Some of our keys have no counterpart: they keep their name, and Rust ignores them. */
const names = {
  loopId: 'loop_id',
  sessionId: 'session_id',
  agentId: 'agent_id',
  parentLoopId: 'parent_loop_id',
  continuationKind: 'continuation_kind',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  status: 'status',
  nativeStatus: 'nativeStatus',
  rejection: 'rejection',
  error: 'error',
  config: 'config',
  base: 'base',
  messages: 'messages',
  turns: 'turns',
  usage: 'usage',
  metadata: 'metadata',
  events: 'events',
  childrenLoopIds: 'children_loop_ids',
  childLoopRefs: 'child_loop_refs',
  parallelGroup: 'parallel_group',
  overlay: 'compaction_block',
  prunes: 'prunes',
  reverts: 'reverts',
  begunCalls: 'begunCalls',
} as const satisfies Record<keyof LoopRecord | 'nativeStatus', string>

const loopSchema = z.looseObject({
  loop_id: z.string(),
  session_id: z.string(),
  agent_id: z.string(),
  parent_loop_id: z.string().nullish(),
  continuation_kind: continuationSchema.nullish(),
  started_at: timeSchema,
  ended_at: timeSchema.nullish(),
  status: z.enum(['Pending', 'Running', 'Completed', 'Rejected', 'Aborted']),
  rejection: z.string().nullish(),
  config: snapshotSchema.nullish(),
  messages: z.array(messageSchema),
  turns: z.array(turnSchema).default([]),
  usage: usageSchema,
  metadata: anyJson.nullish(),
  events: z.array(z.looseObject({ sequence: count, event: jsonObject })),
  children_loop_ids: z.array(z.string()),
  child_loop_refs: z.array(childRefSchema),
  parallel_group: groupSchema.nullish(),
  compaction_block: blockSchema.nullish(),
})

type SpecLoop = z.infer<typeof loopSchema>

/** A value of ours, in our own spelling. */
function native<T>(shape: ShapeOf<T>): z.ZodType<T> {
  return z.custom<T>((value) => fits(shape, value))
}

const { base, overlay: overlayField, prunes, reverts, begunCalls } = loopRecordFields
const overlaySchema = native(overlayField)
const prunesSchema = native(prunes)
const revertsSchema = native(reverts)
const begunCallsSchema = native(begunCalls)
const baseSchema = native(base)

/** Reads a loop; `path` says where it was found. Throws `SessionError` with the path of what is wrong. */
export function loopFromSpec(json: unknown, path: string): LoopRecord {
  const raw = readSpec(z.looseObject({ loop_id: z.string() }), json, path)
  const ids = new MessageIds(raw.loop_id, raw.messages)
  const spec = readSpec(loopSchema, withIds(raw, ids), path)
  const parentLoopId = spec.parent_loop_id ?? undefined
  const loop: LoopRecord = {
    ...unknownKeys(spec, names),
    ...exactTimes({ started_at: spec.started_at, ended_at: spec.ended_at }),
    loopId: spec.loop_id,
    sessionId: spec.session_id,
    agentId: spec.agent_id,
    ...present('parentLoopId', parentLoopId),
    continuationKind: spec.continuation_kind ?? { kind: 'initial' },
    startedAt: spec.started_at.at,
    ...(spec.ended_at && { endedAt: spec.ended_at.at }),
    status: statusOf(spec),
    ...present('rejection', spec.rejection),
    ...fitting('error', failureSchema, spec.error),
    ...present('config', spec.config),
    ...fitting('base', baseSchema, spec.base),
    messages: spec.messages,
    turns: spec.turns.map((turn) => withService(turn, spec.config ?? undefined)),
    usage: spec.usage,
    ...present('metadata', spec.metadata),
    events: [],
    childrenLoopIds: spec.children_loop_ids,
    childLoopRefs: spec.child_loop_refs,
    ...present('parallelGroup', spec.parallel_group),
    ...overlayOf(spec),
    ...fitting('prunes', prunesSchema, spec.prunes),
    ...fitting('reverts', revertsSchema, spec.reverts),
    ...fitting('begunCalls', begunCallsSchema, spec.begunCalls),
  }
  loop.events = eventsFromSpec(spec.events, loop, ids, `${path}.events`)
  return loop
}

function withIds(raw: { [key: string]: unknown }, ids: MessageIds): object {
  const { messages, turns, compaction_block } = raw
  const inside = (value: unknown, keys: readonly string[]): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, keys.includes(key) ? ids.anywhere(field) : field]))
  }
  const sections = (block: object) =>
    Object.fromEntries(Object.entries(block).map(([key, part]) => [key, key.startsWith('keep_') ? inside(part, ['messages']) : part]))
  return {
    ...raw,
    messages: ids.history(messages),
    turns: Array.isArray(turns) ? turns.map((turn) => inside(turn, ['input_messages', 'output_message', 'tool_results'])) : turns,
    compaction_block: typeof compaction_block === 'object' && compaction_block !== null ? sections(compaction_block) : compaction_block,
  }
}

/** Ours, where it is there and says the same in more words. */
function statusOf({ status, nativeStatus }: SpecLoop): LoopRecord['status'] {
  return isLoopStatus(nativeStatus) && toLedgerStatus(nativeStatus) === status ? nativeStatus : fromLedgerStatus(status)
}

/** Our own overlay, or what a block amounts to; the block is kept for writing. */
function overlayOf({ overlay, compaction_block, loop_id, parent_loop_id, messages }: SpecLoop): {
  overlay?: CompactionOverlay
  specBlock?: JsonValue
} {
  const own = fitting('overlay', overlaySchema, overlay)
  if (own.overlay !== undefined || !compaction_block) return own
  const specBlock = blockToSpec(compaction_block, encoderOf(loop_id))
  const loop = { loopId: loop_id, ...present('parentLoopId', parent_loop_id), messages }
  return { ...present('overlay', overlayOfBlock(compaction_block, loop)), specBlock }
}

/** How messages of a loop are written: without ids that reading made up. */
function encoderOf(loopId: string): (message: AgentMessage) => JsonObject {
  return (message) => withoutMadeUpId(jsonObject.parse(messageCodec.encode(message)), loopId)
}

/** What writing a loop needs of the session around it. */
export interface LoopContext {
  message: (id: string) => AgentMessage | undefined
  /** The answer that made a call which this loop, or one it descends from, has answered. */
  callerOf: (loopId: string, toolCallId: string) => AgentMessage | undefined
}

/** The loop in Rust's JSON. */
export function loopToSpec(loop: LoopRecord, { message, callerOf }: LoopContext): JsonObject {
  const encode = encoderOf(loop.loopId)
  const { status, config, endedAt } = loop
  const ledgerStatus = toLedgerStatus(status)
  const spec: JsonObject = {
    ...unknownKeys(loop, names),
    loop_id: loop.loopId,
    session_id: loop.sessionId,
    agent_id: loop.agentId,
    parent_loop_id: loop.parentLoopId ?? null,
    continuation_kind: continuationCodec.encode(loop.continuationKind),
    started_at: writeTime(loop, 'started_at', loop.startedAt),
    ended_at: endedAt === undefined ? null : writeTime(loop, 'ended_at', endedAt),
    status: ledgerStatus,
    ...(fromLedgerStatus(ledgerStatus) !== status && { nativeStatus: status }),
    rejection: loop.rejection ?? null,
    config: config === undefined ? null : configSnapshotCodec.encode(config),
    messages: loop.messages.map(encode),
    turns: loop.turns
      .map((turn) => turnToSpec(turn, { config, encode, callerOf: (id) => callerOf(loop.loopId, id) }))
      .filter((turn) => turn !== undefined),
    usage: usageCodec.encode(loop.usage),
    metadata: loop.metadata ?? null,
    events: eventsToSpec(loop.events, message),
    children_loop_ids: loop.childrenLoopIds,
    child_loop_refs: loop.childLoopRefs.map(childRefToSpec),
    parallel_group: loop.parallelGroup === undefined ? null : groupToSpec(loop.parallelGroup),
  }
  return { ...spec, ...ownKeys(loop), ...compactionToSpec(loop, encode) }
}

/** What only we have; Rust ignores it. */
function ownKeys({ error, base, prunes, reverts, begunCalls }: LoopRecord): JsonObject {
  return plain({ error, base, prunes, reverts, begunCalls })
}

function compactionToSpec(loop: LoopRecord, encode: (message: AgentMessage) => JsonObject): JsonObject {
  const { overlay } = loop
  if (overlay === undefined || overlay.id === blockOverlayId(loop.loopId)) {
    const read: JsonValue | undefined = Reflect.get(loop, 'specBlock')
    return read === undefined ? {} : { compaction_block: read }
  }
  const block = blockOfOverlay(overlay, loop)
  return plain({ overlay, ...(block && { compaction_block: blockToSpec(block, encode) }) })
}

/** The same as JSON: what is absent is left out, at every level. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value))
}
