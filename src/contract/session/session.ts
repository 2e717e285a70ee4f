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
import { editedArguments } from '../tool/edited-arguments.ts'
import { savedState } from './shared-state.ts'

/** A session's id, safe as a file name and storage key. */
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
/** Reason why a session was created. Times are in epoch milliseconds. */
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

/** A sub-agent's loop that a call in this loop started, in a separate session. */
export interface ChildLoopRef extends FieldsOf<typeof childLoopRefFields> {}
export const childLoopRef: ShapeOf<ChildLoopRef> = object<ChildLoopRef>(childLoopRefFields)

export const parallelGroupFields = {
  /** Branches in configuration order. */
  allLoopIds: listOf(aText),
  selectedLoopId: aText,
  selectedConfigIndex: aNumber,
  evaluationUsage: usage,
  /** The judge's reason, if any. */
  reason: optional(aText),
  /** Whether this loop was selected. */
  isSelected: aFlag,
}

/** Branches of one prompt, and the selected branch. */
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
  /** Input from users and programs, without tool results. */
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

/** A loop's status. */
export const loopStatus = oneOf(...runStatus.words, 'running', 'pending', 'interrupted')
/**
 * A loop's status: the outcome of its run, `running`, `pending` (announced by `parallelLoopStart`), or `interrupted` (its process ended
 * without an `agentEnd`).
 */
export type LoopStatus = Infer<typeof loopStatus>

/** Returns whether an ended loop's prompt is finished: the model responded, or the prompt was rejected. */
export function isPromptOver(status: LoopStatus, { kind: how }: ContinuationKind): boolean {
  return status === 'completed' || (status === 'rejected' && how === 'initial')
}

export const sessionStatus = oneOf('running', 'waiting', 'idle')
/**
 * Status of a session's last loop.
 *
 * - `running`: the loop started and has no recorded end. The loop may still run, or be orphaned.
 * - `waiting`: the loop ended with pending calls.
 * - `idle`: otherwise.
 */
export type SessionStatus = Infer<typeof sessionStatus>

/** Returns the outcome of a loop's run, or `undefined` if the run has not ended. */
export function endOf({ status }: { readonly status: LoopStatus }): RunStatus | undefined {
  return runStatus.words.find((word) => word === status)
}

const begunCallFields = {
  toolCallId: aText,
  /** Whether the call can safely run again. */
  idempotent: aFlag,
  /** Set if a person changed its arguments. */
  edited: optional(editedArguments),
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
  /** May be incomplete, because sessions of the Rust crate may lack fields. */
  config: optional(partial<LoopConfigSnapshot>(configSnapshotFields)),
  /** The loop's initial history, if it differs from the final history of its parent. */
  base: optional(fieldsOf({ messages: listOf(agentMessage), state: contextState })),
  /** Messages that the loop added to the history, in order. */
  messages: listOf(agentMessage),
  turns: listOf(turn),
  usage,
  /** Total cost of the loop in USD, including sub-agents and compactions. Absent if any part has no price or the loop was interrupted. */
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
  /** This loop's context changes. */
  overlay: optional(compactionOverlay),
  prunes: optional(listOf(pruneRecord)),
  reverts: optional(listOf(revertRecord)),
  /**
   * For an unfinished loop, the calls of the last response that had started. A resumed agent runs the other calls and requests pending
   * approvals again. If absent, all calls may have started.
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
  /** The session's display name. */
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
