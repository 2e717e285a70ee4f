// What events, journal records, sessions and results all say of a run.
import type { JsonObject, JsonSchema } from '../json.ts'
import type { ApiProtocol, ThinkingLevel } from '../model/model-config.ts'

/** How a loop relates to the one before it. Source: docs/concepts/events.md */
export type ContinuationKind =
  | { kind: 'initial' }
  | { kind: 'default' }
  | { kind: 'rerun'; tag: string }
  | { kind: 'branch'; tag: string }
  | { kind: 'compaction' }

/** What began a turn. Source: docs/concepts/events.md */
export type TurnTrigger = 'user' | 'subAgent' | 'continuation' | 'branch'

/** What a loop ran with; never a key. Source: docs/concepts/events.md */
export interface LoopConfigSnapshot {
  model: string
  provider: string
  configId?: string
  name: string
  api: ApiProtocol
  /** Without user info or query, which may hold secrets. */
  baseUrl: string
  reasoning: boolean
  contextWindow: number
  maxTokens: number
  thinkingLevel: ThinkingLevel
  temperature?: number
}

/** How a run ended. `limit`: an execution limit; `paused`: an approval nobody gave; `rejected`: an input filter or a hook said no. */
export type RunStatus = 'completed' | 'error' | 'aborted' | 'limit' | 'paused' | 'rejected'

/** What failed, as data. `code` is the code of the error behind it. */
export interface RunFailure {
  code: string
  message: string
  /** What was behind that: of code `journal` the `SessionErrorCode` of the store, such as `quota` or `conflict`. */
  cause?: { code: string; message: string }
}

/** A call that waits for a person. `argumentsHash` is the SHA-256 (hex) of the canonical JSON of the arguments. */
export interface PendingApproval {
  toolCallId: string
  toolName: string
  arguments: JsonObject
  argumentsHash: string
  /** Which sub-agent wants to make the call; absent for a call of the run itself. */
  subAgent?: SubAgentRef
}

/** What a running call asks a person, beyond yes and no. Where a server wrote it, nothing in it is trusted. */
export interface InputQuestion {
  message: string
  /** What is to be filled in, as a JSON Schema of an object. Absent where there is nothing to fill in. */
  schema?: JsonSchema
  /** A page on which the person is asked to do something. Nobody opens it but the person, who is shown where it leads. */
  url?: string
  /** Why the answer before was not taken. */
  problem?: string
}

/** A question that waits for a person. */
export interface PendingInput extends InputQuestion {
  inputId: string
  /** The call that asks. */
  toolCallId: string
  toolName: string
  /** Which sub-agent made that call; absent for a call of the run itself. */
  subAgent?: SubAgentRef
}

/** A loop that a call of the run has started. */
export interface SubAgentRef {
  /** The call of the run. */
  toolCallId: string
  toolName: string
  /** The loop that asks. */
  loopId: string
}
