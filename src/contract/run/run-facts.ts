// Data that events, journal records, sessions and results share.
import { apiProtocol } from '../model/model-config.ts'
import { outputForm, recordedSettings, thinkingLevel } from '../model/request-settings.ts'
import { rateLimits } from '../model/usage.ts'
import {
  aFlag,
  aJsonObject,
  aJsonSchema,
  aNumber,
  aNumberFromZero,
  aText,
  type FieldsOf,
  fieldsOf,
  type Infer,
  kind,
  listOf,
  object,
  oneOf,
  optional,
  type ShapeOf,
  tagged,
  type Word,
} from '../shape/shape.ts'
import { editedArguments } from '../tool/edited-arguments.ts'

const eventBase = {
  runId: aText,
  /** Position of the event in the run. Counts from 1. Only merged events leave gaps. */
  seq: aNumber,
  /** Epoch milliseconds. */
  at: aNumber,
  sessionId: aText,
  loopId: aText,
}

/** Common fields of every event, with its type. */
/* @__NO_SIDE_EFFECTS__ */
export function eventOf<const Type extends string>(type: Type): typeof eventBase & { type: Word<Type> } {
  return { ...eventBase, type: oneOf(type) }
}

/** Random, unguessable id of a client that runs tools. */
export const clientId: ShapeOf<string> = kind(
  'a text of 8 to 100 random characters, such as crypto.randomUUID()',
  (value) => typeof value === 'string' && value.length >= 8 && value.length <= 100,
  'string',
)

/** Fields of every event. */
export interface EventBase extends FieldsOf<typeof eventBase> {}

export const continuationKind = tagged('kind', {
  initial: {},
  default: {},
  rerun: { tag: aText },
  branch: { tag: aText },
  compaction: {},
})
/** How a loop relates to its parent loop. Source: docs/reference/events.md */
export type ContinuationKind = Infer<typeof continuationKind>

/**
 * Returns whether a loop of this kind replaces or repeats the last input. A view of the conversation must remove the replaced messages
 * before it reduces the events of such a loop.
 *
 * Source: docs/reference/events.md
 */
export function goesBack({ kind }: ContinuationKind): boolean {
  return kind === 'rerun' || kind === 'branch'
}

/** A turn's trigger. */
export const turnTrigger = oneOf('user', 'subAgent', 'continuation', 'branch')
/** A turn's trigger. Source: docs/reference/events.md */
export type TurnTrigger = Infer<typeof turnTrigger>

export const configSnapshotFields = {
  model: aText,
  provider: aText,
  configId: optional(aText),
  name: aText,
  api: apiProtocol,
  /** Base URL without credentials and query, which may contain secrets. */
  baseUrl: aText,
  reasoning: aFlag,
  contextWindow: aNumber,
  maxTokens: aNumber,
  thinkingLevel,
  temperature: optional(aNumber),
  /** Additional settings sent with each request. */
  settings: optional(recordedSettings),
  /** Present if a `responseFormat` requests JSON. */
  output: optional(outputForm),
}

/** A loop's configuration, without API keys. Source: docs/reference/events.md */
export interface LoopConfigSnapshot extends FieldsOf<typeof configSnapshotFields> {}
export const loopConfigSnapshot: ShapeOf<LoopConfigSnapshot> = object<LoopConfigSnapshot>(configSnapshotFields, ['model', 'provider'])

const turnChangeFields = {
  model: optional(aText),
  provider: optional(aText),
  /** Names of the turn's tools. */
  tools: optional(listOf(aText)),
  thinking: optional(thinkingLevel),
  systemPrompt: optional(aText),
  /** Number of messages sent instead of the history. */
  messages: optional(aNumber),
  maxTokens: optional(aNumber),
  temperature: optional(aNumber),
  settings: optional(recordedSettings),
}

/** Changes that `prepareTurn` made to a turn, as plain JSON. Source: docs/concepts/limits.md */
export interface TurnChangesRecord extends FieldsOf<typeof turnChangeFields> {}
export const turnChangesRecord: ShapeOf<TurnChangesRecord> = object<TurnChangesRecord>(turnChangeFields)

export const endedBy = tagged('type', {
  /** A `stopWhen` condition, identified by its label. */
  condition: { name: aText },
  /** Tool whose result set `endRun`. */
  tool: { toolName: aText, toolCallId: aText },
})
/** Condition or tool that ended a completed run before the model had finished. Source: docs/concepts/limits.md */
export type EndedBy = Infer<typeof endedBy>

/** A run's outcome. */
export const runStatus = oneOf('completed', 'error', 'aborted', 'limit', 'paused', 'rejected')
/**
 * A run's outcome. `limit`: reached an execution limit; `paused`: pending approvals or client calls; `rejected`: refused by an input filter
 * or hook.
 */
export type RunStatus = Infer<typeof runStatus>

const modelNameFields = { provider: aText, model: aText }
/** Provider and model names in events, logs and costs. */
export interface ModelName extends FieldsOf<typeof modelNameFields> {}
export const modelName: ShapeOf<ModelName> = object<ModelName>(modelNameFields)

const failureFields = {
  code: aText,
  message: aText,
  /** Delay before a retry in milliseconds, as requested by the provider. */
  retryAfterMs: optional(aNumberFromZero),
  /** Rate limits of the rejected request. */
  limits: optional(rateLimits),
  /** Code of the underlying error. For `journal`, the store's `SessionErrorCode`, such as `quota` or `conflict`. */
  cause: optional(fieldsOf({ code: aText, message: aText })),
}

/** An error's serializable form. `code` is the original error's code. */
export interface RunFailure extends FieldsOf<typeof failureFields> {}
export const runFailure: ShapeOf<RunFailure> = object<RunFailure>(failureFields)

const subAgentFields = {
  /** The run's tool call that started the nested loop. */
  toolCallId: aText,
  toolName: aText,
  /** Loop that makes the request. */
  loopId: aText,
}

/** A nested loop that one of the run's tool calls started. */
export interface SubAgentRef extends FieldsOf<typeof subAgentFields> {}
export const subAgentRef: ShapeOf<SubAgentRef> = object<SubAgentRef>(subAgentFields)

export const pendingApprovalFields = {
  toolCallId: aText,
  toolName: aText,
  args: aJsonObject,
  argumentsHash: aText,
  /** Sub-agent that makes the call. Absent if the run itself makes the call. */
  subAgent: optional(subAgentRef),
}

/** A tool call with a pending approval. `argumentsHash` is the SHA-256 (hex) of the canonical JSON of the arguments. */
export interface PendingApproval extends FieldsOf<typeof pendingApprovalFields> {}
// Logs before 0.1.0 use the key `arguments`, so only the other fields are required.
const inLogs = ['toolCallId', 'toolName', 'argumentsHash'] as const
export const pendingApproval: ShapeOf<PendingApproval> = object<PendingApproval>(pendingApprovalFields, inLogs)

export const pendingClientCallFields = {
  ...pendingApprovalFields,
  /**
   * Deadline for the result, in epoch milliseconds. After the deadline, the model receives a timeout error. Absent if there is no deadline.
   */
  deadline: optional(aNumber),
  /** Set if a person changed the arguments when approving the call. `args` are then the changed ones. */
  edited: optional(editedArguments),
}

/** A pending client tool call, bound to `argumentsHash`. Source: docs/concepts/tools.md */
export interface PendingClientCall extends FieldsOf<typeof pendingClientCallFields> {}
export const pendingClientCall: ShapeOf<PendingClientCall> = object<PendingClientCall>(pendingClientCallFields, inLogs)

/** Request of a client tool call, with its deadline and claim. */
export const askedClientCallFields = {
  toolCallId: aText,
  argumentsHash: aText,
  /** Epoch milliseconds, as in the request. */
  deadline: optional(aNumber),
  /** SHA-256 of the client id that claimed the call. Hashed, because the id itself proves the claim. */
  holder: optional(aText),
}

/** A client tool call in the form that one process passes to the next. */
export interface AskedClientCall extends FieldsOf<typeof askedClientCallFields> {}
export const askedClientCall: ShapeOf<AskedClientCall> = object<AskedClientCall>(askedClientCallFields)

/** Outcome of a client tool call. `unanswered`: no client responded in time, or the request was withdrawn. */
export const clientCallOutcome = oneOf('answered', 'failed', 'unanswered')

const questionFields = {
  message: aText,
  /** JSON Schema of the object to submit. Absent if no object is expected. */
  schema: optional(aJsonSchema),
  /** URL for the user to open. Show the URL first, and never open it automatically. */
  url: optional(aText),
  /** Why the previous response was rejected. */
  problem: optional(aText),
}

/** A user input request of a running call. A request from an MCP server has untrusted content. */
export interface InputQuestion extends FieldsOf<typeof questionFields> {}

export const pendingInputFields = {
  ...questionFields,
  inputId: aText,
  /** Tool call that requests the input. */
  toolCallId: aText,
  toolName: aText,
  /** Sub-agent that made the call. Absent if the run itself made the call. */
  subAgent: optional(subAgentRef),
}

/** A pending user input request. */
export interface PendingInput extends FieldsOf<typeof pendingInputFields> {}
