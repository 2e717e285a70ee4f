import { compactionOverlay, contextState, pruneRecord, revertRecord } from '../context/context-change.ts'
import { agentMessage, turnId } from '../message/message.ts'
import { annotatedRequest } from '../model/request.ts'
import { promptSettings } from '../model/request-settings.ts'
import { usage } from '../model/usage.ts'
import { anyEvent } from '../run/event.ts'
import {
  type ContinuationKind,
  configSnapshotFields,
  continuationKind,
  type LoopConfigSnapshot,
  type RunStatus,
  runFailure,
  runStatus,
  turnTrigger,
} from '../run/run-facts.ts'
import {
  aFlag,
  aNumber,
  aNumberFromZero,
  aText,
  type FieldsOf,
  fieldsOf,
  type Infer,
  json,
  kind,
  listOf,
  object,
  oneOf,
  optional,
  partial,
  type ShapeOf,
  tagged,
} from '../shape/shape.ts'
import { savedState } from './shared-state.ts'

/** Id of a session, safe as a file name and storage key. */
export const sessionId: ShapeOf<string> = kind(
  'an id of 1 to 200 characters of A-Z a-z 0-9 . _ -, the first one not a dot',
  (value) => typeof value === 'string' && /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(value),
  'string',
)

const moment = { at: aNumber }
export const sessionFormation = tagged('type', {
  firstLoop: moment,
  explicit: moment,
  inactivityTimeout: { ...moment, thresholdSecs: aNumber, previousSessionId: optional(aText) },
})
/** Why a session was created. Times are epoch milliseconds. */
export type SessionFormation = Infer<typeof sessionFormation>

/** Whether a session outlives its agent. */
export const sessionScope = oneOf('ephemeral', 'persistent')
const spawnRefFields = {
  parentSessionId: aText,
  parentLoopId: aText,
  toolCallId: aText,
  toolName: aText,
}

/** Tool call that started a sub-agent's session. Ids and names are empty until known. */
export interface SpawnRef extends FieldsOf<typeof spawnRefFields> {}
export const spawnRef: ShapeOf<SpawnRef> = object<SpawnRef>(spawnRefFields)

const childLoopRefFields = {
  toolCallId: aText,
  toolName: aText,
  childLoopId: aText,
  childSessionId: aText,
}

/** A sub-agent's loop that a call of this loop ran, in a session of its own. */
export interface ChildLoopRef extends FieldsOf<typeof childLoopRefFields> {}
export const childLoopRef: ShapeOf<ChildLoopRef> = object<ChildLoopRef>(childLoopRefFields)

export const parallelGroupFields = {
  /** In the order of the configurations. */
  allLoopIds: listOf(aText),
  selectedLoopId: aText,
  selectedConfigIndex: aNumber,
  evaluationUsage: usage,
  /** Reason of the judge, if it gave one. */
  reason: optional(aText),
  /** Whether this loop was selected. */
  isSelected: aFlag,
}

/** Branches of one prompt, and the selected one. */
export interface ParallelGroupRecord extends FieldsOf<typeof parallelGroupFields> {}
export const parallelGroup: ShapeOf<ParallelGroupRecord> = object<ParallelGroupRecord>(parallelGroupFields)

const loopEventFields = {
  /** Counts from 0. */
  sequence: aNumber,
  event: anyEvent,
}

/** One event of a loop. Gaps in `sequence` are events that were not recorded. */
export interface LoopEvent extends FieldsOf<typeof loopEventFields> {}
export const loopEvent: ShapeOf<LoopEvent> = object<LoopEvent>(loopEventFields)

const turnFields = {
  turnId,
  triggeredBy: turnTrigger,
  usage,
  /** Input of users and programs, without tool results. */
  inputMessages: listOf(agentMessage),
  outputMessage: optional(agentMessage),
  toolResults: listOf(agentMessage),
  /** Epoch milliseconds. */
  startedAt: aNumber,
  /** Epoch milliseconds. */
  endedAt: aNumber,
  /** Present if turn requests are captured. */
  requestPayload: optional(annotatedRequest),
}

/** One model call with its input and outcome. */
export interface Turn extends FieldsOf<typeof turnFields> {}
export const turn: ShapeOf<Turn> = object<Turn>(turnFields, [])

/** Status of a loop. */
export const loopStatus = oneOf(...runStatus.words, 'running', 'pending', 'interrupted')
/**
 * Status of a loop: how its run ended, `running`, `pending` (announced by `parallelLoopStart`), or `interrupted` (its process ended without
 * an `agentEnd`).
 */
export type LoopStatus = Infer<typeof loopStatus>

/** Returns whether the prompt of an ended loop needs no further work: it got a response, or was not accepted. */
export function isPromptOver(status: LoopStatus, { kind: how }: ContinuationKind): boolean {
  return status === 'completed' || (status === 'rejected' && how === 'initial')
}

export const sessionStatus = oneOf('running', 'waiting', 'idle')
/**
 * Status of a session's last loop.
 *
 * - `running`: started, without a recorded end. It may still run, or be orphaned.
 * - `waiting`: ended with pending calls.
 * - `idle`: otherwise.
 */
export type SessionStatus = Infer<typeof sessionStatus>

/** Returns how the run of a loop ended, or `undefined` if it has not. */
export function endOf({ status }: { readonly status: LoopStatus }): RunStatus | undefined {
  return runStatus.words.find((word) => word === status)
}

const begunCallFields = {
  toolCallId: aText,
  /** Whether the call may run again without harm. */
  idempotent: aFlag,
}

/** A call whose tool was started. */
export interface BegunCall extends FieldsOf<typeof begunCallFields> {}
const begunCall: ShapeOf<BegunCall> = object<BegunCall>(begunCallFields)

export const loopRecordFields = {
  loopId: aText,
  sessionId: aText,
  agentId: aText,
  parentLoopId: optional(aText),
  continuationKind,
  /** Epoch milliseconds. */
  startedAt: aNumber,
  /** Epoch milliseconds. */
  endedAt: optional(aNumber),
  status: loopStatus,
  rejection: optional(aText),
  error: optional(runFailure),
  /** As far as known: sessions of the Rust crate may lack fields. */
  config: optional(partial<LoopConfigSnapshot>(configSnapshotFields)),
  /** Initial history of the loop, if it differs from the final history of its parent. */
  base: optional(fieldsOf({ messages: listOf(agentMessage), state: contextState })),
  /** Messages that the loop added to the history, in order. */
  messages: listOf(agentMessage),
  turns: listOf(turn),
  usage,
  /**
   * USD charged to the loop in total, including sub-agents and compactions; absent if any part has no price, or the loop was interrupted.
   */
  costUsd: optional(aNumberFromZero),
  metadata: optional(json),
  /** Request settings of the loop's prompt. */
  asked: optional(promptSettings),
  events: listOf(loopEvent),
  /** Loops of this session that descend from this one. */
  childrenLoopIds: listOf(aText),
  /** Loops of sub-agents. */
  childLoopRefs: listOf(childLoopRef),
  parallelGroup: optional(parallelGroup),
  /** Context changes of this loop. */
  overlay: optional(compactionOverlay),
  prunes: optional(listOf(pruneRecord)),
  reverts: optional(listOf(revertRecord)),
  /**
   * For a loop without an end: the calls of the last response that had started. A resumed agent runs the others, and requests pending
   * approvals again. Absent if unknown; then all calls may have started.
   */
  begunCalls: optional(listOf(begunCall)),
}

/** Record of one loop. */
export interface LoopRecord extends FieldsOf<typeof loopRecordFields> {}
export const loopRecord: ShapeOf<LoopRecord> = object<LoopRecord>(loopRecordFields)

const sessionFields = {
  sessionId: aText,
  agentId: aText,
  /** Owner of the session in a shared store: see `scopedSessionStore`. */
  owner: optional(aText),
  /** Epoch milliseconds. */
  createdAt: aNumber,
  /** Epoch milliseconds. */
  lastActiveAt: aNumber,
  formation: sessionFormation,
  /** Name given to the session. */
  title: optional(aText),
  /** Current shared state. */
  sharedState: optional(savedState),
  /** Present in a sub-agent's session. */
  parentSpawnRef: optional(spawnRef),
  scope: sessionScope,
  /** In start order. */
  loops: listOf(loopRecord),
}

/** All loops of one session id. Plain JSON. Source: docs/reference/sessions.md */
export interface Session extends FieldsOf<typeof sessionFields> {}
export const session: ShapeOf<Session> = object<Session>(sessionFields)
