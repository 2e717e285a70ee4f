import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { EventBase, PendingApproval, PendingClientCall, PendingInput } from '../../contract/run/run-facts.ts'
import type { EditedArguments } from '../../contract/tool/edited-arguments.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ResolveMedia } from '../model/provider.ts'
import type { AgentPlugin, SharedHooks } from './hooks.ts'
import type { LoopObserver } from './loop-watch.ts'

/** Input filter verdict: pass, pass with a warning for the model, or reject. */
export type FilterVerdict = { type: 'pass' } | { type: 'warn'; warning: string } | { type: 'reject'; reason: string }

/**
 * Checks user input (prompts, steering, follow-ups) before it is sent to a model.
 *
 * **Contract**
 * - A filter receives the joined text of one input's user messages, the messages themselves, and a signal that the loop owns.
 * - Filters run in order. The loop appends all warnings to the last user message as one text block with a line `[Warning: …]` for each.
 * - On the first `reject`, the loop emits `inputRejected` and ends the run with status `rejected`, without a model call. A queued message's
 *   receipt becomes `returned`.
 * - A filter that throws or returns an invalid verdict rejects the input.
 *
 * Source: docs/concepts/plugins.md
 */
export type InputFilter = (
  text: string,
  info: { messages: readonly AgentMessage[]; signal: AbortSignal },
) => FilterVerdict | Promise<FilterVerdict>

/** Handles requests that a loop sends to users or clients. */
export interface RequestHandler<Request, Answer> {
  /**
   * Adds `request` to the pending requests and calls `answer` at most once. Returns a function that withdraws the request, after which
   * `answer` is not called.
   */
  wait(request: Request, answer: (answer: Answer) => void): () => void
  /**
   * Returns whether a client can respond. Checked after the request is announced. Without a client or a timeout, the request ends
   * immediately.
   * Default: true.
   */
  isAttended?(): boolean
}

/** Context that an approval rule receives besides the arguments. */
export interface ApprovalInfo<Context = unknown> {
  /** `context` of the prompt that started the run. */
  readonly context: Context
}

/**
 * Whether a tool call needs an approval: always, or depending on the arguments. A function receives a copy of the arguments. Any return
 * value except `false` requires an approval, as does an error.
 */
export type ApprovalRule = boolean | ((args: JsonObject, info: ApprovalInfo) => boolean | Promise<boolean>)

/**
 * Identifies an approval request: an `approvalRequested` event, or an entry of `pendingApprovals()`. If `runId` and `seq` are set, the
 * decision applies only to that request, not to a later request for the same call and arguments.
 */
export type ApprovalRef = Pick<PendingApproval, 'toolCallId' | 'argumentsHash'> & Partial<Pick<EventBase, 'runId' | 'seq'>>

/** Options for an approval. Source: docs/concepts/approval.md */
export interface ApproveOptions {
  /** Arguments that replace the model's. They must match the tool's schema. By default, the call runs with the arguments shown. */
  arguments?: JsonObject
  /** The approver's name. Recorded in the `approvalResolved` event, and in the session if the arguments change. */
  by?: string
  /** Whether the tool result includes the new arguments for the model. Default: true. */
  tellModel?: boolean
}

/** A request and the event that announced it. */
type ShownRequest<Pending> = Pending & Pick<EventBase, 'runId' | 'loopId' | 'seq'>

/** A pending approval and the event that announced it. */
export type ApprovalRequest = ShownRequest<PendingApproval> & {
  /**
   * Validates edited arguments before the decision, and resolves with a copy of them. Rejects with `ConfigError` `invalidOption` if the
   * call cannot run with them. If absent, the loop validates the arguments after the decision.
   */
  checkEdit?(given: JsonObject): Promise<JsonObject>
}

/** Decision about a tool call. `timeout`: no client responded before the deadline, or none can respond. */
export type ApprovalDecision =
  | { type: 'approved'; by?: string; edited?: EditedArguments }
  | { type: 'denied'; reason?: string }
  | { type: 'timeout' }

/** Handles a loop's approval requests. Implemented by `Approvals`. Tools that start loops get their run's handler in `ctx.guards`. */
export type ApprovalHandler = RequestHandler<ApprovalRequest, ApprovalDecision>

/**
 * Response to a user input request: the submitted content, `decline` or `cancel`. A timeout, or no client that can respond, also counts as
 * `cancel`.
 */
export type InputAnswer = { action: 'accept'; content?: JsonObject } | { action: 'decline' } | { action: 'cancel' }

/** Identifies a user input request: an `inputRequested` event, or an entry of `pendingInputs()`. */
export type InputRef = Pick<PendingInput, 'inputId'>

/** A pending user input request and its loop. */
export type InputRequest = PendingInput & Pick<EventBase, 'loopId'>

/** Handles user input requests from tool calls. Tools that start loops get their run's handler in `ctx.guards`. */
export type InputHandler = RequestHandler<InputRequest, InputAnswer>

/** Result of a client tool call: any JSON value, `{ content: [...] }` with text, image and file blocks, or an error. */
export type ClientCallAnswer = { output: JsonValue } | { error: string }

/** Limits and stored claim of a client tool call. */
export interface ClientCallTerms {
  /** Maximum length of the JSON result in characters. */
  maxResultChars: number
  /** SHA-256 of the id of the client whose claim was recorded by an earlier process. */
  holder?: string
  /** Records a claim durably. `undefined` without a journal. */
  claimed(holder: string): Promise<void> | undefined
}

/** A pending client tool call with its limits. */
export type ClientCallRequest = ShownRequest<PendingClientCall> & ClientCallTerms

/**
 * Outcome of a client tool call. `left`: every client has disconnected, and a resumed run requests the call again. Call `kept` once:
 * without an argument when the result is recorded, or with the error if recording failed.
 */
export type ClientCallOutcome =
  | { type: 'answered'; result: ToolResult; kept: (failure?: Error) => void }
  | { type: 'unanswered' }
  | { type: 'left' }

/** Handles a loop's client tool calls. Tools that start loops get their run's handler in `ctx.guards`. */
export type ClientCallHandler = RequestHandler<ClientCallRequest, ClientCallOutcome>

/**
 * A run's guards. Pass them to a nested loop to apply the run's approvals, hooks and input filters: `agentLoop(task, context, {
 * ...ctx.guards?.config, ...config }, { emit, signal: ctx.signal, budget: ctx.budget, ...ctx.guards?.options })`.
 */
export interface RunGuards {
  /** Settings to merge into the nested loop's configuration. */
  readonly config: {
    hooks?: SharedHooks
    inputFilters?: readonly InputFilter[]
    /** Plugins that also apply to nested loops. */
    plugins?: readonly AgentPlugin[]
    approvalTimeoutMs?: number
    observers?: readonly LoopObserver[]
    requireMedia?: boolean
    resolveMedia?: ResolveMedia
  }
  /** Settings to merge into the nested loop's options. */
  readonly options: {
    /** Forwards approval requests to the run, which emits their events. */
    approvals?: ApprovalHandler
    /** Handles user input requests. */
    inputs?: InputHandler
    /** Handles client tool calls. */
    clientCalls?: ClientCallHandler
    /** Returns the run's approval rule for tools of this name that define none. */
    approvalRule: (toolName: string) => ApprovalRule | undefined
    /** The run's `context`, to pass to nested loops. */
    context?: unknown
  }
}
