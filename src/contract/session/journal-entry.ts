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
import { loopEvent, parallelGroupFields } from './session.ts'
import { stateChangeFields } from './shared-state.ts'

const { isSelected: _ofOneLoop, ...ofAllLoops } = parallelGroupFields
const answer: ShapeOf<AgentMessage> = assistantMessage
const result: ShapeOf<AgentMessage> = toolResultMessage

const requestFields = {
  request: annotatedRequest,
  /** In a log: what `request` leaves out because the request recorded before it, of this turn, said it. */
  repeats: optional(
    object({
      loopId: aText,
      turnIndex: aNumberFromZero,
      /** So many messages, with their provenance, come before those of `request`. */
      messages: aNumberFromZero,
      systemPrompt: aFlag,
      tools: aFlag,
    }),
  ),
}

/** What the model was sent. */
export interface RequestEntry extends FieldsOf<typeof requestFields> {
  type: 'turnRequest'
}

/** The entries that a run writes, by their type. */
export const journalEntries = {
  input: { message: agentMessage },
  /** Said while the run was on: it waits to be heard, or was taken back before. */
  queued: { kind: oneOf('steer', 'followUp'), messages: listOf(agentMessage), isReturned: aFlag },
  assistant: { message: answer, prepared: optional(turnChangesRecord) },
  toolIntent: { toolCallId: aText, toolName: aText, arguments: aJsonObject, idempotent: aFlag },
  toolResult: { message: result },
  compaction: { overlay: compactionOverlay },
  prune: { record: pruneRecord },
  revert: { record: revertRecord },
  loopStart: {
    parentLoopId: optional(aText),
    continuationKind,
    config: loopConfigSnapshot,
    metadata: optional(json),
    /** What the prompt that the loop answers said of its requests: a run that is cut off goes on with it. */
    asked: optional(promptSettings),
    /** The key under which a client of a server has asked for the loop: whoever asks again under it, begins no other. */
    idempotencyKey: optional(aText),
  },
  turnStart: { triggeredBy: turnTrigger },
  turnRequest: requestFields,
  /** Events of the loop, where they are kept beside what they tell (`withEvents`). */
  events: { events: listOf(loopEvent) },
  /** A page is asked to run a call, or has claimed it: what was said last of a call counts. */
  clientCall: askedClientCallFields,
  /** The session was given a name. */
  title: { title: aText },
  /** A change of what the session shares with its pages, and the key under which a client of a server has asked for it. */
  sharedState: { ...stateChangeFields, idempotencyKey: optional(aText) },
  parallelGroup: { group: fieldsOf(ofAllLoops) },
  loopEnd: {
    status: runStatus,
    usage,
    /** USD of all that was charged to the loop, as in `agentEnd`; absent where something in it has no price. */
    costUsd: optional(aNumberFromZero),
    error: optional(runFailure),
    rejection: optional(aText),
    endedBy: optional(endedBy),
    pendingApprovals: optional(listOf(pendingApproval)),
    pendingClientCalls: optional(listOf(pendingClientCall)),
  },
}
const journalEntry = tagged('type', journalEntries)

/** What must be durable before the run goes on. */
export type JournalEntry = Infer<typeof journalEntry>
