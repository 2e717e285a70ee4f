/// <reference lib="esnext.disposable" preserve="true" />
// Programs that use this package need not name the library of `await using`.

import { isNamed, PhiError } from '../../contract/errors.ts'
import type { AgentMessage, PromptInput, StopReason } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { EndedBy, PendingApproval, PendingClientCall, PendingInput, RunFailure, RunStatus } from '../../contract/run/run-facts.ts'
import type { ReachedLimit } from '../../contract/run/settings.ts'
import type { ApprovalRef, ClientCallAnswer, InputAnswer, InputRef } from './question.ts'

/** A value of which anything may be missing yet. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

/** What a list holds, for the elements of an answer that is one. */
export type ElementOf<T> = T extends readonly (infer Item)[] ? Item : unknown

/** How a run ends, and what only that ending has to say. */
export type RunEnding =
  | { status: 'completed'; endedBy?: EndedBy }
  | { status: 'aborted' }
  | { status: 'limit'; limit: ReachedLimit }
  | { status: 'error'; error: RunFailure }
  | { status: 'rejected'; rejection: string }
  | { status: 'paused'; pendingApprovals: PendingApproval[]; pendingClientCalls?: PendingClientCall[] }

/** One thing that is wrong with a response. */
export interface OutputIssue {
  /** Where, such as `days[0].degrees`; empty for the response as a whole. */
  path: string
  message: string
}

/** Why a response is not the value that its `responseFormat` promises. Source: docs/guides/structured-output.md */
export interface OutputError {
  /** All issues in one text, as `parseOutput` throws it, or why the response could not be read. */
  message: string
  /** What the schema refused; empty if the response is not JSON, or could not be checked. */
  issues: OutputIssue[]
  /** The response as the model wrote it. */
  text: string
}

/** What a run came to. `Output` is what its `responseFormat` promises. */
export interface RunResult<Output = unknown> {
  runId: string
  loopId: string
  sessionId: string
  status: RunStatus
  /** Text of the last assistant message of the run; empty if there is none. */
  text: string
  /**
   * The response of a completed run as the value that `responseFormat` promises. Absent without one, if the response does not fit (see
   * `outputError`), and if the agent is elsewhere.
   */
  output?: Output
  /** Why a completed run has no `output` although it has a `responseFormat`: the response does not fit, or could not be checked. */
  outputError?: OutputError
  /** Why the last answer ended: `length` where it was cut at `maxTokens`, `guardRail` where it was refused. Absent where there is no answer. */
  stopReason?: StopReason
  /** The run completed and its last answer has no content, although it was asked for twice. */
  isEmpty?: true
  /** Messages the run added to the history, in order. */
  messages: AgentMessage[]
  /** Of the run's own model calls. */
  usage: Usage
  /** Also of all that was charged to it: sub-agents, compactions, tools that ask models. */
  totalUsage: Usage
  /**
   * USD of `totalUsage`: each answer at the rates of its own prompt and of the model that gave it, or as its service says. Absent where something in it has
   * no price.
   */
  costUsd?: number
  /**
   * Messages the run was given and did not take in, in order: a prompt that a limit, an abort, a filter or a hook came before, or of which a store
   * has certainly kept nothing; steering and follow-ups that came too late. They are nowhere else; pass them to the next prompt, or drop them.
   */
  returned: AgentMessage[]
  /** Present when `status` is `error`. */
  error?: RunFailure
  /** Present when `status` is `limit`. */
  limit?: ReachedLimit
  /** Present where a condition of `stopWhen`, or a tool's `endRun`, ended a completed run. */
  endedBy?: EndedBy
  /** Present when `status` is `rejected`: who said no, and why. */
  rejection?: string
  /** Present when `status` is `paused`. */
  pendingApprovals?: PendingApproval[]
  /** Present when `status` is `paused` and calls wait for a page. */
  pendingClientCalls?: PendingClientCall[]
}

/**
 * A run that did not complete, as `run.text()` throws it. `code` is that of the run's error, else its status: `aborted`, `limit`, `paused`,
 * `rejected`.
 */
export class RunError extends PhiError {
  override readonly name = 'RunError'
  /** What the run came to all the same, with the text it had so far. */
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

/** Where a queued message is: waiting, in the history, or given back because its run ended first or its queue was cleared. */
export type ReceiptStatus = 'queued' | 'delivered' | 'returned'

/** The promise that a queued message is not lost. */
export interface Receipt {
  /** The message as it will be in the history. */
  readonly message: AgentMessage
  readonly status: ReceiptStatus
  /** Resolves once, when the message is delivered or returned; never rejects. */
  readonly settled: Promise<'delivered' | 'returned'>
  /**
   * Resolves when what was queued, or taken back, is recorded: a run that is cut off and gone on with hears it. At once where nothing is recorded, and for
   * what waits for no run yet. Rejects where the journal refuses it; the run ends then.
   */
  readonly stored: Promise<void>
  /**
   * Takes the message back, with those it was said together with, as long as it waits: it is then `returned`, and in no result, because the caller who
   * took it back has it. Where it comes too late nothing happens; `settled` tells.
   */
  withdraw(): void
}

/**
 * One run of an agent. It proceeds whether or not anyone listens. `Output` is the type of `output` in its result.
 *
 * **Contract**
 * - Iterating yields every event still remembered, then the live ones, and ends after `agentEnd`. Leaving an iterator detaches the reader;
 *   the run goes on. Any number of readers may iterate; each sees all events in order.
 * - A reader that falls behind gets consecutive deltas of one block as one event, only the latest undelivered update of a tool call, and of child loops
 *   no deltas and only the latest updates and status lines; no other event is dropped.
 * - `abort()`, the caller's signal or `await using` stop the run.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export interface AgentRun<Output = unknown> extends AsyncIterable<AgentEvent>, AsyncDisposable {
  readonly id: string
  /** Settled with `agentStart`: where somebody else has begun a loop of this id in the same session meanwhile, it is the next one. */
  readonly loopId: string
  readonly sessionId: string
  /** Always resolves, however the run ended. */
  readonly result: Promise<RunResult<Output>>
  /** Calls `listener` synchronously for each event from now on; returns how to stop. What it throws is logged and ignored. */
  subscribe(listener: (event: AgentEvent) => void): () => void
  /** Events after the cursor `after` (default 0: all). Throws `CursorExpiredError` when some of them are forgotten. */
  events(options?: { after?: number }): AsyncIterable<AgentEvent>
  /** The text of the final answer of a run that completed; rejects with `RunError` when it ended otherwise, `result` and all in it. */
  text(): Promise<string>
  /**
   * What the model writes, piece by piece: the text of every answer of this run, in order, each time from the beginning. Ends when the run completes; then, or
   * when it ended otherwise, behaves as `text()`: throws `RunError`. Leaving it detaches; the run goes on. After a retry a text may begin again. It shows
   * no question, so a run that nobody else follows ends `paused` where one comes.
   */
  readonly textStream: AsyncIterable<string>
  /**
   * The answer as the value that `responseFormat` promises, while it is written: each time it says more. Unchecked and untransformed; `output` of the result is
   * the checked one. Ends with the run, and throws `RunError` unless it completed.
   */
  partial(): AsyncIterable<DeepPartial<Output>>
  /** Elements of a list in that answer, each once it is whole: of the answer itself, or of the list under these names. As {@link AgentRun.partial}. */
  elements<Element = ElementOf<Output>>(...path: string[]): AsyncIterable<Element>
  /** A message of this run as far as it has come, O(1). While it streams this is a live view: copy it to keep it. */
  message(id: string): AgentMessage | undefined
  /**
   * Injects a message at the next checkpoint of this run. When the run ends before, whatever the reason, the message is `returned`: by its receipt
   * and in the result. After the end the receipt is `returned` at once.
   */
  steer(input: PromptInput): Receipt
  /** Adds a message that is answered when the run would otherwise stop; otherwise as `steer`. */
  followUp(input: PromptInput): Receipt
  /**
   * Lets the call run that `request` showed: an `approvalRequested` event, an entry of `pendingApprovals()`, or id and hash. Throws `ConfigError`
   * `unknownCall` when no such request waits, `argumentsChanged` when the call waits with other arguments, `invalidOption` without a hash.
   */
  approve(request: ApprovalRef): void
  /** Refuses a waiting call; the model is told `reason`. To deny, the id is enough. Throws `ConfigError` `unknownCall`, `argumentsChanged`. */
  deny(request: ApprovalRef | string, reason?: string): void
  /**
   * Answers what a running call asks: an `inputRequested` event, an entry of `pendingInputs()`, or its id. Throws `ConfigError` `unknownInput` when no
   * such request waits, `invalidOption` for what is no answer.
   */
  answer(request: InputRef | string, answer: InputAnswer): void
  /** What running calls ask now, those of sub-agents among them. */
  pendingInputs(): PendingInput[]
  /**
   * Says that the client of this id runs the call which `request` shows, for 30 seconds from now on; again to hold it longer. Resolves with false where another
   * client has it. Rejects with `ConfigError` `unknownCall`, `argumentsChanged`, `invalidOption` without a hash.
   */
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  /**
   * Ends a call that a page runs, with what came of it. Resolves once that is recorded. Rejects with `ConfigError` as `claimCall`, `claimedElsewhere` where
   * another client runs it, and `invalidMessage` for what is no result or is too long: the call goes on waiting then.
   */
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  /** Calls that wait for a page now, those of sub-agents among them. */
  pendingClientCalls(): PendingClientCall[]
  /** Calls that wait for a decision now, those of sub-agents among them. */
  pendingApprovals(): PendingApproval[]
  /** Stops the run: the model call is cut, tools are signalled and detached, the history stays replayable. Idempotent. */
  abort(reason?: unknown): void
}
