import type { JsonObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { agentMessage } from '../../contract/message/message.ts'
import {
  childLoopRef,
  type LoopRecord,
  type LoopStatus,
  loopRecord,
  loopStatus,
  parallelGroup,
  session,
  sessionFormation,
  spawnRef,
  type Turn,
  turn,
} from '../../contract/session/session.ts'
import { fits, invalidMessages } from '../../contract/shape/read.ts'
import { aNumber, fieldsOf, type Infer, listOf, oneOf, optional } from '../../contract/shape/shape.ts'
import { type Entry, spelled, spelledTagged, type ValueSpelling } from '../spelling.ts'

const ledgerStatus = oneOf('Pending', 'Running', 'Completed', 'Rejected', 'Aborted')
/** Rust's words for a loop's status. It refuses a whole file for any other. */
export type LedgerStatus = Infer<typeof ledgerStatus>

const ledger = {
  pending: 'Pending',
  running: 'Running',
  completed: 'Completed',
  limit: 'Completed',
  paused: 'Completed',
  rejected: 'Rejected',
  error: 'Aborted',
  aborted: 'Aborted',
  interrupted: 'Aborted',
} as const satisfies Record<LoopStatus, LedgerStatus>

const native = {
  Pending: 'pending',
  Running: 'running',
  Completed: 'completed',
  Rejected: 'rejected',
  // `Aborted` in Rust: no end was seen.
  Aborted: 'interrupted',
} as const satisfies Record<LedgerStatus, LoopStatus>

/** Returns Rust's word for a status. Several of ours share one, so ours is written too. */
export function toLedgerStatus(status: LoopStatus): LedgerStatus {
  return ledger[status]
}

const status: ValueSpelling<LoopStatus> = {
  read(json, path) {
    if (fits(ledgerStatus, json)) return native[json]
    throw invalidMessages(path, ledgerStatus.words.join('|'), json, true)
  },
  write: toLedgerStatus,
}

/** Uses our status if it is present and consistent. */
function statusRead(loop: LoopRecord, json: JsonObject): LoopRecord {
  const { nativeStatus, ...rest }: LoopRecord & { nativeStatus?: unknown } = loop
  const isMore = fits(loopStatus, nativeStatus) && toLedgerStatus(nativeStatus) === json.status
  return isMore ? { ...rest, status: nativeStatus } : rest
}

function statusWritten(json: JsonObject, { status }: LoopRecord): JsonObject {
  return native[toLedgerStatus(status)] === status ? json : { ...json, nativeStatus: status }
}

/** Removes the response of a turn that only ran calls approved later: it was written with that of the calls. */
function ownAnswerRead(read: Turn): Turn {
  const { outputMessage, ...rest } = read
  return outputMessage === undefined || isOfTurn(outputMessage, read) ? read : rest
}

function isOfTurn(message: AgentMessage, { turnId }: Turn): boolean {
  if (message.role === 'extension' || message.turnId === undefined) return true
  return message.turnId.loopId === turnId.loopId && message.turnId.turnIndex === turnId.turnIndex
}

/** A range of turns of one loop, both included. Turns are identified by position. A message without a turn counts as one. */
const turnRange = fieldsOf({ startTurn: aNumber, endTurn: aNumber })
export type TurnRange = Infer<typeof turnRange>

const blockSection = fieldsOf({ range: turnRange, messages: listOf(agentMessage) })
export type BlockSection = Infer<typeof blockSection>

/** Rust's `CompactionBlock`: covers one loop, whereas an overlay covers a whole history. */
export const compactionBlock = fieldsOf({
  createdAt: aNumber,
  keepFirst: optional(turnRange),
  keepCompacted: optional(blockSection),
  keepRecent: optional(blockSection),
})
export type CompactionBlock = Infer<typeof compactionBlock>

const time = { as: 'time' } as const
const ours = { extra: 'native' } as const
const orNull = { absent: null } as const

export const sessionSpellings: readonly Entry[] = [
  spelled(session, {
    names: 'snake_case',
    fields: { createdAt: time, lastActiveAt: time, parentSpawnRef: orNull, scope: { missing: () => 'ephemeral' as const } },
  }),
  ...spelledTagged(sessionFormation, 'type', {
    words: 'PascalCase',
    isOutside: true,
    names: 'snake_case',
    fields: { at: { as: 'time', name: 'timestamp' } },
    variants: { inactivityTimeout: { fields: { previousSessionId: orNull } } },
  }),
  spelled(spawnRef, { names: 'snake_case' }),
  spelled(childLoopRef, { names: 'snake_case' }),
  spelled(parallelGroup, { names: 'snake_case' }),
  spelled(turn, { names: 'snake_case', fields: { startedAt: time, endedAt: time }, read: ownAnswerRead }),
  spelled(compactionBlock, { names: 'snake_case', fields: { createdAt: { as: 'time', name: 'createdAt' } } }),
  spelled(loopRecord, {
    names: 'snake_case',
    fields: {
      parentLoopId: orNull,
      continuationKind: { isOption: true, missing: () => ({ kind: 'initial' as const }) },
      startedAt: time,
      endedAt: { as: 'time', absent: null },
      status: { as: status },
      rejection: orNull,
      error: { extra: 'spelled' },
      config: orNull,
      base: ours,
      turns: { missing: () => [] },
      costUsd: ours,
      metadata: orNull,
      asked: ours,
      parallelGroup: orNull,
      overlay: ours,
      prunes: ours,
      reverts: ours,
      begunCalls: ours,
    },
    read: statusRead,
    write: statusWritten,
  }),
]
