// What events, journal records, sessions and results all say of a run.
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

const eventBase = {
  runId: aText,
  /** Cursor within the run: counts up from 1 without gaps, except where events were coalesced. */
  seq: aNumber,
  /** Epoch ms. */
  at: aNumber,
  sessionId: aText,
  loopId: aText,
}

/** What the table of an event begins with: what every event carries, and its type. */
/* @__NO_SIDE_EFFECTS__ */
export function eventOf<const Type extends string>(type: Type): typeof eventBase & { type: Word<Type> } {
  return { ...eventBase, type: oneOf(type) }
}

/** The name of a page that runs tools: long enough that nobody guesses it. */
export const clientId: ShapeOf<string> = kind(
  'a text of 8 to 100 characters that nobody can guess, such as crypto.randomUUID()',
  (value) => typeof value === 'string' && value.length >= 8 && value.length <= 100,
  'string',
)

/** What every event carries. */
export interface EventBase extends FieldsOf<typeof eventBase> {}

export const continuationKind = tagged('kind', {
  initial: {},
  default: {},
  rerun: { tag: aText },
  branch: { tag: aText },
  compaction: {},
})
/** How a loop relates to the one before it. Source: docs/reference/events.md */
export type ContinuationKind = Infer<typeof continuationKind>

/**
 * Whether a loop of this kind takes back what was said last: it says it again, or says something else in its place. A view of the conversation must go
 * back before it reduces the events of such a loop.
 *
 * Source: docs/reference/events.md
 */
export function goesBack({ kind }: ContinuationKind): boolean {
  return kind === 'rerun' || kind === 'branch'
}

/** What began a turn, in words. */
export const turnTrigger = oneOf('user', 'subAgent', 'continuation', 'branch')
/** What began a turn. Source: docs/reference/events.md */
export type TurnTrigger = Infer<typeof turnTrigger>

export const configSnapshotFields = {
  model: aText,
  provider: aText,
  configId: optional(aText),
  name: aText,
  api: apiProtocol,
  /** Without user info or query, which may hold secrets. */
  baseUrl: aText,
  reasoning: aFlag,
  contextWindow: aNumber,
  maxTokens: aNumber,
  thinkingLevel,
  temperature: optional(aNumber),
  /** What else was asked of each request. */
  settings: optional(recordedSettings),
  /** Present where a `responseFormat` asks for JSON. */
  output: optional(outputForm),
}

/** What a loop ran with; never a key. Source: docs/reference/events.md */
export interface LoopConfigSnapshot extends FieldsOf<typeof configSnapshotFields> {}
export const loopConfigSnapshot: ShapeOf<LoopConfigSnapshot> = object<LoopConfigSnapshot>(configSnapshotFields, ['model', 'provider'])

const turnChangeFields = {
  model: optional(aText),
  provider: optional(aText),
  /** Names of the tools that the turn had. */
  tools: optional(listOf(aText)),
  thinking: optional(thinkingLevel),
  systemPrompt: optional(aText),
  /** How many messages were sent in place of the history. */
  messages: optional(aNumber),
  maxTokens: optional(aNumber),
  temperature: optional(aNumber),
  settings: optional(recordedSettings),
}

/** What `prepareTurn` changed of a turn, as plain JSON. Source: docs/concepts/limits.md */
export interface TurnChangesRecord extends FieldsOf<typeof turnChangeFields> {}
export const turnChangesRecord: ShapeOf<TurnChangesRecord> = object<TurnChangesRecord>(turnChangeFields)

export const endedBy = tagged('type', {
  /** One of `stopWhen`, by its label. */
  condition: { name: aText },
  /** A tool whose result said `endRun`. */
  tool: { toolName: aText, toolCallId: aText },
})
/** What ended a run that completed before the model had nothing more to do. Source: docs/concepts/limits.md */
export type EndedBy = Infer<typeof endedBy>

/** How a run ended, in words. */
export const runStatus = oneOf('completed', 'error', 'aborted', 'limit', 'paused', 'rejected')
/** How a run ended. `limit`: an execution limit; `paused`: an approval nobody gave; `rejected`: an input filter or a hook said no. */
export type RunStatus = Infer<typeof runStatus>

const modelNameFields = { provider: aText, model: aText }
/** The names that a service and its model have in events, logs and costs. */
export interface ModelName extends FieldsOf<typeof modelNameFields> {}
export const modelName: ShapeOf<ModelName> = object<ModelName>(modelNameFields)

const failureFields = {
  code: aText,
  message: aText,
  /** How long the service asked to wait from then on, in ms. */
  retryAfterMs: optional(aNumberFromZero),
  /** What the service said of its rate limits when it refused. */
  limits: optional(rateLimits),
  /** What was behind that: of code `journal` the `SessionErrorCode` of the store, such as `quota` or `conflict`. */
  cause: optional(fieldsOf({ code: aText, message: aText })),
}

/** What failed, as data. `code` is the code of the error behind it. */
export interface RunFailure extends FieldsOf<typeof failureFields> {}
export const runFailure: ShapeOf<RunFailure> = object<RunFailure>(failureFields)

const subAgentFields = {
  /** The call of the run. */
  toolCallId: aText,
  toolName: aText,
  /** The loop that asks. */
  loopId: aText,
}

/** A loop that a call of the run has started. */
export interface SubAgentRef extends FieldsOf<typeof subAgentFields> {}
export const subAgentRef: ShapeOf<SubAgentRef> = object<SubAgentRef>(subAgentFields)

export const pendingApprovalFields = {
  toolCallId: aText,
  toolName: aText,
  args: aJsonObject,
  argumentsHash: aText,
  /** Which sub-agent wants to make the call; absent for a call of the run itself. */
  subAgent: optional(subAgentRef),
}

/** A call that waits for a person. `argumentsHash` is the SHA-256 (hex) of the canonical JSON of the arguments. */
export interface PendingApproval extends FieldsOf<typeof pendingApprovalFields> {}
// Logs before 0.1.0 say `arguments`, so readers of a log rely on the other fields.
const inLogs = ['toolCallId', 'toolName', 'argumentsHash'] as const
export const pendingApproval: ShapeOf<PendingApproval> = object<PendingApproval>(pendingApprovalFields, inLogs)

export const pendingClientCallFields = {
  ...pendingApprovalFields,
  /** Epoch ms after which no page is expected to answer any more: the model is told so. Absent where there is no end. */
  deadline: optional(aNumber),
}

/** A call that a page is to run, as `argumentsHash` binds it, and that waits for its result. Source: docs/concepts/tools.md */
export interface PendingClientCall extends FieldsOf<typeof pendingClientCallFields> {}
export const pendingClientCall: ShapeOf<PendingClientCall> = object<PendingClientCall>(pendingClientCallFields, inLogs)

/** That a page was asked to run a call, until when, and which page does. */
export const askedClientCallFields = {
  toolCallId: aText,
  argumentsHash: aText,
  /** Epoch ms, as in the request. */
  deadline: optional(aNumber),
  /** Of the id with which a page has claimed the call: its SHA-256, because who knows the id holds the claim. */
  holder: optional(aText),
}

/** A call that a page was asked to run, as a process leaves it to the next one. */
export interface AskedClientCall extends FieldsOf<typeof askedClientCallFields> {}
export const askedClientCall: ShapeOf<AskedClientCall> = object<AskedClientCall>(askedClientCallFields)

/** What came of a call that a page was to run, in words. `unanswered`: no page answered in time, or nobody was asked any more. */
export const clientCallOutcome = oneOf('answered', 'failed', 'unanswered')

const questionFields = {
  message: aText,
  /** What is to be filled in, as a JSON Schema of an object. Absent where there is nothing to fill in. */
  schema: optional(aJsonSchema),
  /** A page on which the person is asked to do something. Nobody opens it but the person, who is shown where it leads. */
  url: optional(aText),
  /** Why the answer before was not taken. */
  problem: optional(aText),
}

/** What a running call asks a person, beyond yes and no. Where a server wrote it, nothing in it is trusted. */
export interface InputQuestion extends FieldsOf<typeof questionFields> {}

export const pendingInputFields = {
  ...questionFields,
  inputId: aText,
  /** The call that asks. */
  toolCallId: aText,
  toolName: aText,
  /** Which sub-agent made that call; absent for a call of the run itself. */
  subAgent: optional(subAgentRef),
}

/** A question that waits for a person. */
export interface PendingInput extends FieldsOf<typeof pendingInputFields> {}
