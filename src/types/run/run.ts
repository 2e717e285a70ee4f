/// <reference lib="esnext.disposable" preserve="true" />
// Includes the types for `await using`, so that applications do not need to add this library to their tsconfig.

import { isNamed, PhiError } from '../../contract/errors.ts'
import type { AgentMessage, PromptInput, StopReason } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { EndedBy, PendingApproval, PendingClientCall, PendingInput, RunFailure, RunStatus } from '../../contract/run/run-facts.ts'
import type { ReachedLimit } from '../../contract/run/settings.ts'
import type { ApprovalRef, ApproveOptions, ClientCallAnswer, InputAnswer, InputRef } from './question.ts'

/** Makes every property optional, recursively. Describes a value that is still streaming. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

/** Element type of a list, or `unknown`. */
export type ElementOf<T> = T extends readonly (infer Item)[] ? Item : unknown

/** How a run ended, with the details. */
export type RunEnding =
  | { status: 'completed'; endedBy?: EndedBy }
  | { status: 'aborted' }
  | { status: 'limit'; limit: ReachedLimit }
  | { status: 'error'; error: RunFailure }
  | { status: 'rejected'; rejection: string }
  | { status: 'paused'; pendingApprovals: PendingApproval[]; pendingClientCalls?: PendingClientCall[] }

/** One schema violation in a response. */
export interface OutputIssue {
  /** Location such as `days[0].degrees`. Empty for the response as a whole. */
  path: string
  message: string
}

/** The reason why a response does not match its `responseFormat`. Source: docs/guides/structured-output.md */
export interface OutputError {
  /** All issues as one text, or the parse error. Identical to the message of the error that `parseOutput` throws. */
  message: string
  /** Schema violations. Empty if the response is not JSON or could not be checked. */
  issues: OutputIssue[]
  /** The response as the model wrote it. */
  text: string
}

/** A run's result. `Output` is the type of its `responseFormat`. */
export interface RunResult<Output = unknown> {
  runId: string
  loopId: string
  sessionId: string
  status: RunStatus
  /** Text of the run's last assistant message. Empty if there is none. */
  text: string
  /**
   * Parsed response of a completed run. Absent without a `responseFormat`, if the response does not match (see `outputError`), and for
   * remote agents.
   */
  output?: Output
  /** Why a completed run with a `responseFormat` has no `output`: the response does not match, or could not be checked. */
  outputError?: OutputError
  /** Stop reason of the last response: `length` if truncated at `maxTokens`, `guardRail` if refused. Absent without a response. */
  stopReason?: StopReason
  /** The run completed, but its last response was empty even after a retry. */
  isEmpty?: true
  /** Messages that the run added to the history, in order. */
  messages: AgentMessage[]
  /** Usage of the run's own model calls. */
  usage: Usage
  /** Usage including sub-agents, compactions and tools that call models. */
  totalUsage: Usage
  /** USD of `totalUsage`, at the rates of each model or as the provider reports it. Absent if any part has no price. */
  costUsd?: number
  /**
   * Messages that the run did not accept, in order. These are a prompt stopped by a limit, abort, filter, hook or failed store, and late
   * steering or follow-ups. The history does not contain these messages. Pass them to the next prompt, or drop them.
   */
  returned: AgentMessage[]
  /** Present if `status` is `error`. */
  error?: RunFailure
  /** Present if `status` is `limit`. */
  limit?: ReachedLimit
  /** Present if a condition of `stopWhen`, or a tool's `endRun`, ended a completed run. */
  endedBy?: EndedBy
  /** Reason and origin of the rejection. Present if `status` is `rejected`. */
  rejection?: string
  /** Present if `status` is `paused`. */
  pendingApprovals?: PendingApproval[]
  /** Present if `status` is `paused` and client tool calls are pending. */
  pendingClientCalls?: PendingClientCall[]
}

/**
 * Thrown by `run.text()` if the run did not complete. `code` is the code of the run's error, or its status: `aborted`, `limit`, `paused`,
 * `rejected`.
 */
export class RunError extends PhiError {
  override readonly name = 'RunError'
  /** The run's result, including its text so far. */
  declare readonly result: RunResult

  constructor(result: RunResult) {
    super(result.error?.code ?? result.status, whyNotCompleted(result))
    // Not enumerable, so that logging an error does not print a conversation.
    Object.defineProperty(this, 'result', { value: result, enumerable: false })
  }

  static override isInstance(value: unknown): value is RunError {
    return isNamed(value, 'RunError')
  }
}

function whyNotCompleted({ status, error, limit, rejection, pendingApprovals = [], pendingClientCalls = [] }: RunResult): string {
  if (error !== undefined) return error.message
  if (status === 'limit') return `The run stopped at a limit: ${limit?.reason}. Raise it in limits, or continue with agent.continueLoop().`
  if (status === 'rejected') return `The run was rejected: ${rejection}`
  if (status !== 'paused') return `The run was ${status} before it had a response.`
  if (pendingApprovals.length === 0 && pendingClientCalls.length > 0) {
    const calls = pendingClientCalls.map(({ toolName }) => toolName).join(', ')
    return `The run is paused: a client must run ${calls}. Call agent.continueLoop(), and answer clientCallRequested with run.answerCall(event, { output }).`
  }
  const tools = pendingApprovals.map(({ toolName }) => toolName).join(', ')
  const how = 'answer approvalRequested with run.approve(event) or run.deny(event)'
  return `The run is paused: calls of ${tools} are pending approval. Call agent.continueLoop(), and ${how}.`
}

/** State of a queued message: `queued`, `delivered` into the history, or `returned` because its run ended or its queue was cleared. */
export type ReceiptStatus = 'queued' | 'delivered' | 'returned'

/** Tracks a queued message until it is delivered or returned. */
export interface Receipt {
  /** The message in the form that the history will contain. */
  readonly message: AgentMessage
  readonly status: ReceiptStatus
  /** Resolves once, when the message is delivered or returned. Never rejects. */
  readonly settled: Promise<'delivered' | 'returned'>
  /**
   * Resolves when the message, or its withdrawal, is recorded and survives a resume. Resolves immediately without a journal, and for a
   * message queued for the next run. Rejects if the journal rejects the message, which also ends the run.
   */
  readonly stored: Promise<void>
  /**
   * Withdraws a pending message and the other messages queued by the same call. They become `returned`, but the run's result omits them.
   * Does nothing after delivery. See `settled`.
   */
  withdraw(): void
}

/**
 * One run of an agent. The run proceeds even without readers. `Output` is the type of `output` in its result.
 *
 * **Contract**
 * - Iterating yields all retained events, then live events, and ends after `agentEnd`. Leaving an iterator detaches the reader, and the run
 *   continues. Any number of readers may iterate, and each sees all events in order.
 * - For a slow reader, the run merges consecutive deltas of a block and retains only the latest undelivered update of a tool call. For
 *   child loops, it drops deltas and retains only the latest updates and status lines. It retains all other events.
 * - `abort()`, the caller's signal and leaving an `await using` scope stop the run.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export interface AgentRun<Output = unknown> extends AsyncIterable<AgentEvent>, AsyncDisposable {
  readonly id: string
  /**
   * Final once `agentStart` is emitted. Before that, the id changes to the next free one if another process started a loop with the same
   * id in the session.
   */
  readonly loopId: string
  readonly sessionId: string
  /** Always resolves, regardless of how the run ends. */
  readonly result: Promise<RunResult<Output>>
  /**
   * Calls `listener` synchronously for each later event. Returns a function that unsubscribes. Errors thrown by the listener are logged and
   * ignored.
   */
  subscribe(listener: (event: AgentEvent) => void): () => void
  /**
   * Iterates events after the cursor `after` (default 0: all). Throws `CursorExpiredError` if some of these events are no longer retained.
   */
  events(options?: { after?: number }): AsyncIterable<AgentEvent>
  /**
   * Resolves with the final response's text when the run completes. Otherwise rejects with `RunError`, which contains the result.
   */
  text(): Promise<string>
  /**
   * Streams the text of every response in this run, in order.
   *
   * - Ends when the run completes. Throws `RunError` if the run ends any other way.
   * - Leaving the iterator detaches the reader. The run continues.
   * - After a retry, the text may start over.
   * - The iterator does not show approvals or other requests, so a run without other readers ends `paused` at the first request.
   */
  readonly textStream: AsyncIterable<string>
  /**
   * Yields the partial `responseFormat` value as it streams, without validation or transformation. The result's `output` contains the
   * validated value. Ends with the run, and throws `RunError` unless the run completed.
   */
  partial(): AsyncIterable<DeepPartial<Output>>
  /**
   * Yields the elements of a list as each one completes. The list is the response itself, or the value at `path`. See
   * {@link AgentRun.partial}.
   */
  elements<Element = ElementOf<Output>>(...path: string[]): AsyncIterable<Element>
  /** Returns a message of this run in O(1). A streaming message is a live view, so copy it to preserve its current state. */
  message(id: string): AgentMessage | undefined
  /**
   * Queues a message for this run's next checkpoint. If the run ends first, the receipt becomes `returned` and the result contains the
   * message. If the run has already ended, the receipt is `returned` immediately.
   */
  steer(input: PromptInput): Receipt
  /** Queues a message for delivery when the run would otherwise end. See `steer`. */
  followUp(input: PromptInput): Receipt
  /**
   * Approves the call in `request`: an `approvalRequested` event, an entry of `pendingApprovals()`, or id and hash. Throws `ConfigError`
   * `unknownCall` if the call is not pending, `argumentsChanged` if it is pending with other arguments, and `invalidOption` without a
   * hash.
   */
  approve(request: ApprovalRef): void
  /**
   * Approves the call in `request` with different arguments, or records the approver.
   *
   * - The tool runs with a copy of `arguments`. The call in the history keeps the model's arguments.
   * - `approvalResolved` and the tool result record the edit.
   * - Rejects with the errors that `approve` without options throws. Also rejects with `invalidOption` for unknown options, for arguments
   *   that do not match the schema, and for a provider-executed call. The call then stays pending.
   */
  approve(request: ApprovalRef, options: ApproveOptions): Promise<void>
  /**
   * Denies a pending call and sends `reason` to the model. Requires only the id. Throws `ConfigError` `unknownCall` or `argumentsChanged`.
   */
  deny(request: ApprovalRef | string, reason?: string): void
  /**
   * Responds to a user input request: an `inputRequested` event, an entry of `pendingInputs()`, or its id. Throws `ConfigError`
   * `unknownInput` if the request is not pending, and `invalidOption` for an invalid response.
   */
  answer(request: InputRef | string, answer: InputAnswer): void
  /** Returns pending user input requests, including those of sub-agents. */
  pendingInputs(): PendingInput[]
  /**
   * Claims the client tool call in `request` for this client for 30 seconds. Call again to extend the claim. Resolves with `false` if
   * another client has claimed the call. Rejects with `ConfigError` `unknownCall`, `argumentsChanged`, or `invalidOption` without a hash.
   */
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  /**
   * Submits the result of a client tool call. Resolves when the result is recorded. Rejects with the same `ConfigError` codes as
   * `claimCall`, with `claimedElsewhere` if another client has claimed the call, and with `invalidMessage` if the result is invalid or too
   * long. The call then stays pending.
   */
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  /** Returns pending client tool calls, including those of sub-agents. */
  pendingClientCalls(): PendingClientCall[]
  /** Returns pending approvals, including those of sub-agents. */
  pendingApprovals(): PendingApproval[]
  /** Stops the run: cancels the model call, aborts and detaches tools, and leaves a history that can be sent again. Idempotent. */
  abort(reason?: unknown): void
}
