/// <reference lib="esnext.disposable" preserve="true" />
// Programs that use this package need not name the library of `await using`.

import { isNamed, PhiError } from '../../contract/errors.ts'
import type { AgentMessage, PromptInput, StopReason } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { EndedBy, PendingApproval, PendingClientCall, PendingInput, RunFailure, RunStatus } from '../../contract/run/run-facts.ts'
import type { ReachedLimit } from '../../contract/run/settings.ts'
import type { ApprovalRef, ClientCallAnswer, InputAnswer, InputRef } from './question.ts'

/** Makes every property optional, recursively: a value that is still streaming. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

/** Element type of a list, or `unknown`. */
export type ElementOf<T> = T extends readonly (infer Item)[] ? Item : unknown

/** How a run ended, with the data of that ending. */
export type RunEnding =
  | { status: 'completed'; endedBy?: EndedBy }
  | { status: 'aborted' }
  | { status: 'limit'; limit: ReachedLimit }
  | { status: 'error'; error: RunFailure }
  | { status: 'rejected'; rejection: string }
  | { status: 'paused'; pendingApprovals: PendingApproval[]; pendingClientCalls?: PendingClientCall[] }

/** One schema violation in a response. */
export interface OutputIssue {
  /** Location such as `days[0].degrees`; empty for the response as a whole. */
  path: string
  message: string
}

/** Why a response does not match its `responseFormat`. Source: docs/guides/structured-output.md */
export interface OutputError {
  /** All issues in one text, as `parseOutput` throws it, or why the response could not be parsed. */
  message: string
  /** Schema violations; empty if the response is not JSON or could not be checked. */
  issues: OutputIssue[]
  /** The response as the model wrote it. */
  text: string
}

/** Result of a run. `Output` is the type of its `responseFormat`. */
export interface RunResult<Output = unknown> {
  runId: string
  loopId: string
  sessionId: string
  status: RunStatus
  /** Text of the last assistant message of the run; empty if there is none. */
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
   * Messages that the run did not accept, in order. They are a prompt stopped by a limit, abort, filter, hook or failed store, and late
   * steering or follow-ups. They are in no history. Pass them to the next prompt, or drop them.
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
  /** Result of the run, with its text so far. */
  declare readonly result: RunResult

  constructor(result: RunResult) {
    super(result.error?.code ?? result.status, whyNotCompleted(result))
    // Not enumerable: logging an error must not print a conversation.
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
  if (status !== 'paused') return `The run was ${status} before it had an answer.`
  if (pendingApprovals.length === 0 && pendingClientCalls.length > 0) {
    const calls = pendingClientCalls.map(({ toolName }) => toolName).join(', ')
    return `The run is paused: a page has to run ${calls}. agent.continueLoop() asks again: answer clientCallRequested with run.answerCall(event, { output }).`
  }
  const tools = pendingApprovals.map(({ toolName }) => toolName).join(', ')
  const how = 'answer approvalRequested with run.approve(event) or run.deny(event)'
  return `The run is paused: calls of ${tools} wait for an approval. agent.continueLoop() asks again: ${how}.`
}

/** State of a queued message: `queued`, `delivered` into the history, or `returned` because its run ended or its queue was cleared. */
export type ReceiptStatus = 'queued' | 'delivered' | 'returned'

/** Tracks a queued message until it is delivered or returned. */
export interface Receipt {
  /** The message as it will be in the history. */
  readonly message: AgentMessage
  readonly status: ReceiptStatus
  /** Resolves once, when the message is delivered or returned; never rejects. */
  readonly settled: Promise<'delivered' | 'returned'>
  /**
   * Resolves when the message, or its withdrawal, is recorded, so that a resumed run receives it. Resolves at once without a journal, and
   * for a message that waits for the next run. Rejects if the journal rejects it; the run then ends.
   */
  readonly stored: Promise<void>
  /**
   * Withdraws the message, and those queued in the same call, while it is pending. It becomes `returned` but is in no result, because the
   * caller has it. Does nothing after delivery; see `settled`.
   */
  withdraw(): void
}

/**
 * One run of an agent. It proceeds whether or not anyone listens. `Output` is the type of `output` in its result.
 *
 * **Contract**
 * - Iterating yields all retained events, then live ones, and ends after `agentEnd`. Leaving an iterator detaches the reader; the run
 *   continues. Any number of readers may iterate; each sees all events in order.
 * - For a slow reader, consecutive deltas of a block are merged, and only the latest undelivered update of a tool call is kept. Child loops
 *   keep no deltas and only the latest updates and status lines. No other event is dropped.
 * - `abort()`, the caller's signal or `await using` stop the run.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export interface AgentRun<Output = unknown> extends AsyncIterable<AgentEvent>, AsyncDisposable {
  readonly id: string
  /** Final once `agentStart` is emitted: if another process started a loop with this id in the same session, the next id is used. */
  readonly loopId: string
  readonly sessionId: string
  /** Always resolves, however the run ended. */
  readonly result: Promise<RunResult<Output>>
  /**
   * Calls `listener` synchronously for each later event. Returns a function that unsubscribes. Errors of the listener are logged and
   * ignored.
   */
  subscribe(listener: (event: AgentEvent) => void): () => void
  /** Iterates events after the cursor `after` (default 0: all). Throws `CursorExpiredError` if some of them are no longer retained. */
  events(options?: { after?: number }): AsyncIterable<AgentEvent>
  /**
   * Resolves with the text of the final response of a completed run. Rejects with `RunError`, which holds the result, if the run ended
   * otherwise.
   */
  text(): Promise<string>
  /**
   * Yields the text of every response of this run in pieces, in order.
   *
   * - Ends when the run completes; throws `RunError` if it ended otherwise.
   * - Leaving the iterator detaches; the run continues.
   * - After a retry, a text may start again.
   * - It shows no requests, so a run without other readers ends `paused` at the first one.
   */
  readonly textStream: AsyncIterable<string>
  /**
   * Yields the growing response as the value of `responseFormat`, without validation or transformation; see `output` of the result for the
   * validated value. Ends with the run, and throws `RunError` unless it completed.
   */
  partial(): AsyncIterable<DeepPartial<Output>>
  /** Yields complete elements of a list in that response: the response itself, or the list at this path. See {@link AgentRun.partial}. */
  elements<Element = ElementOf<Output>>(...path: string[]): AsyncIterable<Element>
  /** Returns a message of this run so far, O(1). While it streams, this is a live view: copy it to keep it. */
  message(id: string): AgentMessage | undefined
  /**
   * Queues a message for the next checkpoint of this run. If the run ends first, the message is `returned`: in its receipt and in the
   * result. After the end of the run, the receipt is `returned` at once.
   */
  steer(input: PromptInput): Receipt
  /** Queues a message for the point where the run would otherwise stop; see `steer`. */
  followUp(input: PromptInput): Receipt
  /**
   * Approves the call of `request`: an `approvalRequested` event, an entry of `pendingApprovals()`, or id and hash. Throws `ConfigError`
   * `unknownCall` if it is not pending, `argumentsChanged` if it is pending with other arguments, `invalidOption` without a hash.
   */
  approve(request: ApprovalRef): void
  /**
   * Denies a pending call and sends `reason` to the model. The id is sufficient. Throws `ConfigError` `unknownCall`, `argumentsChanged`.
   */
  deny(request: ApprovalRef | string, reason?: string): void
  /**
   * Responds to a user input request: an `inputRequested` event, an entry of `pendingInputs()`, or its id. Throws `ConfigError`
   * `unknownInput` if it is not pending, `invalidOption` for an invalid response.
   */
  answer(request: InputRef | string, answer: InputAnswer): void
  /** Returns pending user input requests, including those of sub-agents. */
  pendingInputs(): PendingInput[]
  /**
   * Claims the client tool call of `request` for this client, for 30 seconds; call again to extend. Resolves with false if another client
   * holds it. Rejects with `ConfigError` `unknownCall`, `argumentsChanged`, `invalidOption` without a hash.
   */
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  /**
   * Submits the result of a client tool call. Resolves once it is recorded. Rejects with `ConfigError` as `claimCall`, and
   * `claimedElsewhere` if another client holds it. Rejects with `invalidMessage` if the result is invalid or too long; the call then stays
   * pending.
   */
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  /** Returns pending client tool calls, including those of sub-agents. */
  pendingClientCalls(): PendingClientCall[]
  /** Returns pending approvals, including those of sub-agents. */
  pendingApprovals(): PendingApproval[]
  /** Stops the run: cancels the model call, aborts and detaches tools, and leaves a history that can be sent again. Idempotent. */
  abort(reason?: unknown): void
}
