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

/** The id of a session. It is also a safe file name and storage key. */
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
/** Why a session was opened. Times are epoch ms. */
export type SessionFormation = Infer<typeof sessionFormation>

/** Whether a session is meant to outlive its agent, in words. */
export const sessionScope = oneOf('ephemeral', 'persistent')
const spawnRefFields = {
  parentSessionId: aText,
  parentLoopId: aText,
  toolCallId: aText,
  toolName: aText,
}

/** Which call of which loop began a sub-agent's session. Ids and names are empty until they are known. */
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
  /** Why it was chosen, in the words of the judge, where it said so. */
  reason: optional(aText),
  /** Whether this loop is the chosen one. */
  isSelected: aFlag,
}

/** Branches of one prompt, and which of them was chosen. */
export interface ParallelGroupRecord extends FieldsOf<typeof parallelGroupFields> {}
export const parallelGroup: ShapeOf<ParallelGroupRecord> = object<ParallelGroupRecord>(parallelGroupFields)

const loopEventFields = {
  /** Counts from 0. */
  sequence: aNumber,
  event: anyEvent,
}

/** One event of a loop. Gaps in `sequence` are events that were not kept. */
export interface LoopEvent extends FieldsOf<typeof loopEventFields> {}
export const loopEvent: ShapeOf<LoopEvent> = object<LoopEvent>(loopEventFields)

const turnFields = {
  turnId,
  triggeredBy: turnTrigger,
  usage,
  /** What people and programs said; no tool results. */
  inputMessages: listOf(agentMessage),
  outputMessage: optional(agentMessage),
  toolResults: listOf(agentMessage),
  /** Epoch ms. */
  startedAt: aNumber,
  /** Epoch ms. */
  endedAt: aNumber,
  /** Only where turn requests are captured. */
  requestPayload: optional(annotatedRequest),
}

/** One model call with what went in and what came of it. */
export interface Turn extends FieldsOf<typeof turnFields> {}
export const turn: ShapeOf<Turn> = object<Turn>(turnFields, [])

/** Where a loop is, in words. */
export const loopStatus = oneOf(...runStatus.words, 'running', 'pending', 'interrupted')
/**
 * Where a loop is: how its run ended, `running`, or `pending` (announced by `parallelLoopStart`). `interrupted`: its process ended before it
 * did, so that no `agentEnd` was seen.
 */
export type LoopStatus = Infer<typeof loopStatus>

/** Whether nothing is left to do for the prompt of a loop that has ended so: it was answered, or not taken in. */
export function isPromptOver(status: LoopStatus, { kind: how }: ContinuationKind): boolean {
  return status === 'completed' || (status === 'rejected' && how === 'initial')
}

export const sessionStatus = oneOf('running', 'waiting', 'idle')
/**
 * How the last loop of a session stands: `running` where it has begun and no end of it is recorded (it is on, or its process has left it), `waiting` where it
 * has ended because calls wait for a person, `idle` otherwise.
 */
export type SessionStatus = Infer<typeof sessionStatus>

/** How the run of a loop has ended, by its status; undefined where it has not. */
export function endOf({ status }: { readonly status: LoopStatus }): RunStatus | undefined {
  return runStatus.words.find((word) => word === status)
}

const begunCallFields = {
  toolCallId: aText,
  /** Whether it may be begun again without harm. */
  idempotent: aFlag,
}

/** A call whose tool was begun. */
export interface BegunCall extends FieldsOf<typeof begunCallFields> {}
const begunCall: ShapeOf<BegunCall> = object<BegunCall>(begunCallFields)

export const loopRecordFields = {
  loopId: aText,
  sessionId: aText,
  agentId: aText,
  parentLoopId: optional(aText),
  continuationKind,
  /** Epoch ms. */
  startedAt: aNumber,
  /** Epoch ms. */
  endedAt: optional(aNumber),
  status: loopStatus,
  rejection: optional(aText),
  error: optional(runFailure),
  /** As far as it is known: what the Rust crate stores may lack fields. */
  config: optional(partial<LoopConfigSnapshot>(configSnapshotFields)),
  /** The history the loop began with, where that is not the one its parent ended with. */
  base: optional(fieldsOf({ messages: listOf(agentMessage), state: contextState })),
  /** What the loop added to the history, in order. */
  messages: listOf(agentMessage),
  turns: listOf(turn),
  usage,
  /** USD of all that was charged to it, sub-agents and compactions too; absent where something in it has no price, or the loop was cut off. */
  costUsd: optional(aNumberFromZero),
  metadata: optional(json),
  /** What the prompt that the loop answers said of its requests. */
  asked: optional(promptSettings),
  events: listOf(loopEvent),
  /** Loops of this session that descend from this one. */
  childrenLoopIds: listOf(aText),
  /** Sub-agents' loops. */
  childLoopRefs: listOf(childLoopRef),
  parallelGroup: optional(parallelGroup),
  /** What this loop changed of what is sent. */
  overlay: optional(compactionOverlay),
  prunes: optional(listOf(pruneRecord)),
  reverts: optional(listOf(revertRecord)),
  /**
   * If the loop has no end, as a log knows it: which calls of the last answer were begun. An agent that resumes it runs the others, and asks again for
   * those that waited for a person. Absent where nobody knows; then all may have begun.
   */
  begunCalls: optional(listOf(begunCall)),
}

/** The complete record of one loop. */
export interface LoopRecord extends FieldsOf<typeof loopRecordFields> {}
export const loopRecord: ShapeOf<LoopRecord> = object<LoopRecord>(loopRecordFields)

const sessionFields = {
  sessionId: aText,
  agentId: aText,
  /** The user whose it is, in a store that several share: see `scopedSessionStore`. */
  owner: optional(aText),
  /** Epoch ms. */
  createdAt: aNumber,
  /** Epoch ms. */
  lastActiveAt: aNumber,
  formation: sessionFormation,
  /** The name that somebody gave it. */
  title: optional(aText),
  /** What it shares with its pages, as it is now. */
  sharedState: optional(savedState),
  /** Where it is a sub-agent's. */
  parentSpawnRef: optional(spawnRef),
  scope: sessionScope,
  /** In the order they began. */
  loops: listOf(loopRecord),
}

/** Everything that happened under one session id. Plain JSON. Source: docs/reference/sessions.md */
export interface Session extends FieldsOf<typeof sessionFields> {}
export const session: ShapeOf<Session> = object<Session>(sessionFields)
