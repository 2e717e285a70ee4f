import { compactionOverlay, pruneRecord, revertRecord } from '../context/context-change.ts'
import { type AgentMessage, agentMessage, assistantMessage, toolResultMessage } from '../message/message.ts'
import { annotatedRequest } from '../model/request.ts'
import { promptSettings } from '../model/request-settings.ts'
import { usage } from '../model/usage.ts'
import {
  askedClientCallFields,
  continuationKind,
  endedBy,
  loopConfigSnapshot,
  pendingApproval,
  pendingClientCall,
  runFailure,
  runStatus,
  turnChangesRecord,
  turnTrigger,
} from '../run/run-facts.ts'
import {
  aFlag,
  aJsonObject,
  aNumberFromZero,
  aText,
  type FieldsOf,
  fieldsOf,
  type Infer,
  json,
  listOf,
  object,
  oneOf,
  optional,
  type ShapeOf,
  tagged,
} from '../shape/shape.ts'
import { editedArguments } from '../tool/edited-arguments.ts'
import { loopEvent, parallelGroupFields } from './session.ts'
import { stateChangeFields } from './shared-state.ts'

const { isSelected: _ofOneLoop, ...ofAllLoops } = parallelGroupFields
const answer: ShapeOf<AgentMessage> = assistantMessage
const result: ShapeOf<AgentMessage> = toolResultMessage

const requestFields = {
  request: annotatedRequest,
  /** Fields omitted from `request` in a log, because the turn's previous recorded request contains them. */
  repeats: optional(
    object({
      loopId: aText,
      turnIndex: aNumberFromZero,
      /** Number of messages, with provenance, that precede the messages in `request`. */
      messages: aNumberFromZero,
      systemPrompt: aFlag,
      tools: aFlag,
    }),
  ),
}

/** The request to the model. */
export interface RequestEntry extends FieldsOf<typeof requestFields> {
  type: 'turnRequest'
}

/** Entries that a run writes, by type. */
export const journalEntries = {
  input: { message: agentMessage },
  /** Input queued during the run: pending, or withdrawn. */
  queued: { kind: oneOf('steer', 'followUp'), messages: listOf(agentMessage), isReturned: aFlag },
  assistant: { message: answer, prepared: optional(turnChangesRecord) },
  toolIntent: { toolCallId: aText, toolName: aText, arguments: aJsonObject, idempotent: aFlag, edited: optional(editedArguments) },
  toolResult: { message: result },
  compaction: { overlay: compactionOverlay },
  prune: { record: pruneRecord },
  revert: { record: revertRecord },
  loopStart: {
    parentLoopId: optional(aText),
    continuationKind,
    config: loopConfigSnapshot,
    metadata: optional(json),
    /** Request settings of the loop's prompt. A resumed run reuses these settings. */
    asked: optional(promptSettings),
    /** Idempotency key of the client request that started the loop. A retry with the same key does not start another loop. */
    idempotencyKey: optional(aText),
  },
  turnStart: { triggeredBy: turnTrigger },
  turnRequest: requestFields,
  /** The loop's events. Recorded only with `withEvents`. */
  events: { events: listOf(loopEvent) },
  /** A client tool call was requested or claimed. Each call's last entry applies. */
  clientCall: askedClientCallFields,
  /** The session was renamed. */
  title: { title: aText },
  /** A change of shared state, with the client request's idempotency key, if any. */
  sharedState: { ...stateChangeFields, idempotencyKey: optional(aText) },
  parallelGroup: { group: fieldsOf(ofAllLoops) },
  loopEnd: {
    status: runStatus,
    usage,
    /** Total cost of the loop in USD, as in `agentEnd`. Absent if any part has no price. */
    costUsd: optional(aNumberFromZero),
    error: optional(runFailure),
    rejection: optional(aText),
    endedBy: optional(endedBy),
    pendingApprovals: optional(listOf(pendingApproval)),
    pendingClientCalls: optional(listOf(pendingClientCall)),
  },
}
const journalEntry = tagged('type', journalEntries)

/** An entry that must be durable before the run continues. */
export type JournalEntry = Infer<typeof journalEntry>
