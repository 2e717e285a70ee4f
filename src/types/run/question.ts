import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { EventBase, PendingApproval, PendingClientCall, PendingInput } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ResolveMedia } from '../model/provider.ts'
import type { AgentPlugin, SharedHooks } from './hooks.ts'
import type { LoopObserver } from './loop-watch.ts'

/** What a filter thinks of an input: let it pass, let it pass with a warning for the model, or refuse it. */
export type FilterVerdict = { type: 'pass' } | { type: 'warn'; warning: string } | { type: 'reject'; reason: string }

/**
 * Looks at what a person says before a model does: prompts, steering and follow-ups.
 *
 * **Contract**
 * - Gets the text of all user messages of one input, joined by line breaks (no images), the messages themselves, and a signal owned by the loop.
 * - Filters run one after the other. Warnings add up and are appended to the last user message as one text block, a line
 *   `[Warning: …]` each. The first `reject` wins: `inputRejected`, the model is not asked, the run ends with status `rejected`, and
 *   the receipt of a queued message says `returned`.
 * - A filter that throws, or answers something else, refuses the input.
 *
 * Source: docs/concepts/plugins.md
 */
export type InputFilter = (
  text: string,
  info: { messages: readonly AgentMessage[]; signal: AbortSignal },
) => FilterVerdict | Promise<FilterVerdict>

/** Where a loop asks somebody outside of it. */
export interface RequestHandler<Request, Answer> {
  /** Lets `request` wait; `answer` is called with the answer, at most once. Returns how to withdraw it: then `answer` is not called. */
  wait(request: Request, answer: (answer: Answer) => void): () => void
  /**
   * Whether anybody could answer, asked once a question has been shown. A question that nobody can answer, and that has no time limit, ends at once. Default:
   * somebody can.
   */
  isAttended?(): boolean
}

/**
 * Whether a person is asked before a call runs: always, or as its arguments require. A function gets arguments of its own. Whatever is said,
 * or left out by a rule that was asked: only `false` does not ask. A rule that throws asks.
 */
export type ApprovalRule = boolean | ((args: JsonObject) => boolean | Promise<boolean>)

/**
 * The request that a decision is about: an `approvalRequested` event, or an entry of `pendingApprovals()`. With `runId` and `seq`, as in the event,
 * the decision is about that request alone, not about a later one of the same call with the same arguments.
 */
export type ApprovalRef = Pick<PendingApproval, 'toolCallId' | 'argumentsHash'> & Partial<Pick<EventBase, 'runId' | 'seq'>>

/** A request as it is asked: what is shown, and which event shows it. */
export type ApprovalRequest = PendingApproval & Pick<EventBase, 'runId' | 'loopId' | 'seq'>

/** What was decided about a call; `timeout`: nobody answered in time, or can. */
export type ApprovalDecision = { type: 'approved' } | { type: 'denied'; reason?: string } | { type: 'timeout' }

/** Where a loop asks for approvals. `Approvals` is one; a tool that starts loops gets that of its run in `ctx.guards`. */
export type ApprovalHandler = RequestHandler<ApprovalRequest, ApprovalDecision>

/**
 * What a person answered: what was filled in, that they will not say, or nothing. `cancel` is also what a call gets that asks where nobody can be
 * asked, or was not answered in time.
 */
export type InputAnswer = { action: 'accept'; content?: JsonObject } | { action: 'decline' } | { action: 'cancel' }

/** The request that an answer is to: an `inputRequested` event, or an entry of `pendingInputs()`. */
export type InputRef = Pick<PendingInput, 'inputId'>

/** A request as it is asked: what is shown, and which loop asks. */
export type InputRequest = PendingInput & Pick<EventBase, 'loopId'>

/** Where the calls of a loop ask people for more than an approval. A tool that starts loops gets that of its run in `ctx.guards`. */
export type InputHandler = RequestHandler<InputRequest, InputAnswer>

/**
 * What a page says came of a call: any JSON value, `{ content: [...] }` with blocks of text, pictures and files as a person may send them, or why it
 * failed.
 */
export type ClientCallAnswer = { output: JsonValue } | { error: string }

/** What holds of a call that a page is asked to run. */
export interface ClientCallTerms {
  /** Characters that the JSON of a result may have. */
  maxResultChars: number
  /** The SHA-256 of the id of the page that had claimed it when a process ended. */
  holder?: string
  /** Makes durable that a page has claimed it; `undefined` where there is no journal. */
  claimed(holder: string): Promise<void> | undefined
}

/** A call as a page is asked to run it, and what its result may have. */
export type ClientCallRequest = ApprovalRequest & PendingClientCall & ClientCallTerms

/**
 * The outcome of a client call; `left`: nobody is asked here any more, and the run asks again when it is continued. `kept` is to be called once: the
 * result is recorded, or why it is not.
 */
export type ClientCallOutcome =
  | { type: 'answered'; result: ToolResult; kept: (failure?: Error) => void }
  | { type: 'unanswered' }
  | { type: 'left' }

/** Where a loop asks pages to run calls. A tool that starts loops gets that of its run in `ctx.guards`. */
export type ClientCallHandler = RequestHandler<ClientCallRequest, ClientCallOutcome>

/**
 * What watches over a run. A tool that starts a loop passes it on, so that what a person, a hook or a filter refuses stays refused:
 * `agentLoop(task, context, { ...ctx.guards?.config, ...config }, { emit, signal: ctx.signal, budget: ctx.budget, ...ctx.guards?.options })`.
 */
export interface RunGuards {
  /** Of the loop's configuration. */
  readonly config: {
    hooks?: SharedHooks
    inputFilters?: readonly InputFilter[]
    /** Those that cover the whole tree. */
    plugins?: readonly AgentPlugin[]
    approvalTimeoutMs?: number
    observers?: readonly LoopObserver[]
    requireMedia?: boolean
    resolveMedia?: ResolveMedia
  }
  /** Of its options. */
  readonly options: {
    /** Requests rise to the run that can answer, and are events of it. */
    approvals?: ApprovalHandler
    /** Where its calls ask people for more than an approval. */
    inputs?: InputHandler
    /** Where pages run calls of it. */
    clientCalls?: ClientCallHandler
    /** The rule for tools of that name that have none of their own. */
    approvalRule: (toolName: string) => ApprovalRule | undefined
  }
}
