import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { EventBase, PendingApproval, PendingClientCall, PendingInput } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ResolveMedia } from '../model/provider.ts'
import type { AgentPlugin, SharedHooks } from './hooks.ts'
import type { LoopObserver } from './loop-watch.ts'

/** Verdict of an input filter: pass, pass with a warning for the model, or reject. */
export type FilterVerdict = { type: 'pass' } | { type: 'warn'; warning: string } | { type: 'reject'; reason: string }

/**
 * Checks user input before a model sees it: prompts, steering and follow-ups.
 *
 * **Contract**
 * - Receives the text of all user messages of one input, joined by line breaks (without images), the messages, and a signal owned by the
 *   loop.
 * - Filters run in order. Warnings are appended to the last user message as one text block, one line `[Warning: …]` each.
 * - The first `reject` wins: it emits `inputRejected`, calls no model, and ends the run with status `rejected`. The receipt of a queued
 *   message becomes `returned`.
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
   * Adds `request` to the pending ones and calls `answer` at most once. Returns a function that withdraws the request; `answer` is then not
   * called.
   */
  wait(request: Request, answer: (answer: Answer) => void): () => void
  /**
   * Returns whether a client can respond. Checked after the request was shown. Without a client and a timeout, the request ends at once.
   * Default: true.
   */
  isAttended?(): boolean
}

/**
 * Whether a tool call needs an approval: always, or depending on its arguments. A function receives a copy of the arguments. Every value
 * except `false`, including none or an error, requires an approval.
 */
export type ApprovalRule = boolean | ((args: JsonObject) => boolean | Promise<boolean>)

/**
 * Identifies the request of a decision: an `approvalRequested` event, or an entry of `pendingApprovals()`. With the `runId` and `seq` of
 * the event, the decision applies only to that request. It does not apply to a later one of the same call with the same arguments.
 */
export type ApprovalRef = Pick<PendingApproval, 'toolCallId' | 'argumentsHash'> & Partial<Pick<EventBase, 'runId' | 'seq'>>

/** A pending approval, and the event that shows it. */
export type ApprovalRequest = PendingApproval & Pick<EventBase, 'runId' | 'loopId' | 'seq'>

/** Decision about a tool call. `timeout`: no client responded before the deadline, or none can respond. */
export type ApprovalDecision = { type: 'approved' } | { type: 'denied'; reason?: string } | { type: 'timeout' }

/** Handles approval requests of a loop. Implemented by `Approvals`. Tools that start loops get the handler of their run in `ctx.guards`. */
export type ApprovalHandler = RequestHandler<ApprovalRequest, ApprovalDecision>

/**
 * Response to a user input request: the submitted content, a refusal, or none. The call also gets `cancel` on a timeout or if no client can
 * respond.
 */
export type InputAnswer = { action: 'accept'; content?: JsonObject } | { action: 'decline' } | { action: 'cancel' }

/** Identifies the request of a response: an `inputRequested` event, or an entry of `pendingInputs()`. */
export type InputRef = Pick<PendingInput, 'inputId'>

/** A pending user input request, and its loop. */
export type InputRequest = PendingInput & Pick<EventBase, 'loopId'>

/** Handles user input requests of tool calls. Tools that start loops get the handler of their run in `ctx.guards`. */
export type InputHandler = RequestHandler<InputRequest, InputAnswer>

/** Result of a client tool call: any JSON value, `{ content: [...] }` with text, image and file blocks, or an error. */
export type ClientCallAnswer = { output: JsonValue } | { error: string }

/** Limits and claim of a client tool call. */
export interface ClientCallTerms {
  /** Maximum characters of the result as JSON. */
  maxResultChars: number
  /** SHA-256 of the client id that held the claim when a process ended. */
  holder?: string
  /** Records a claim durably; `undefined` without a journal. */
  claimed(holder: string): Promise<void> | undefined
}

/** A pending client tool call with its limits. */
export type ClientCallRequest = ApprovalRequest & PendingClientCall & ClientCallTerms

/**
 * Outcome of a client tool call. `left`: no client is connected any more; a resumed run requests the call again. Call `kept` once, when the
 * result is recorded, or with the error.
 */
export type ClientCallOutcome =
  | { type: 'answered'; result: ToolResult; kept: (failure?: Error) => void }
  | { type: 'unanswered' }
  | { type: 'left' }

/** Handles client tool calls of a loop. Tools that start loops get the handler of their run in `ctx.guards`. */
export type ClientCallHandler = RequestHandler<ClientCallRequest, ClientCallOutcome>

/**
 * Guards of a run. Pass them to a nested loop, so that it respects denials, hooks and filters of the run: `agentLoop(task, context, {
 * ...ctx.guards?.config, ...config }, { emit, signal: ctx.signal, budget: ctx.budget, ...ctx.guards?.options })`.
 */
export interface RunGuards {
  /** Settings for the configuration of the nested loop. */
  readonly config: {
    hooks?: SharedHooks
    inputFilters?: readonly InputFilter[]
    /** Plugins that cover the whole tree. */
    plugins?: readonly AgentPlugin[]
    approvalTimeoutMs?: number
    observers?: readonly LoopObserver[]
    requireMedia?: boolean
    resolveMedia?: ResolveMedia
  }
  /** Settings for the options of the nested loop. */
  readonly options: {
    /** Forwards requests to the run that can respond; that run emits their events. */
    approvals?: ApprovalHandler
    /** Handles user input requests. */
    inputs?: InputHandler
    /** Handles client tool calls. */
    clientCalls?: ClientCallHandler
    /** Returns the approval rule for tools of this name that have no rule of their own. */
    approvalRule: (toolName: string) => ApprovalRule | undefined
  }
}
