import type { JsonValue } from '../../contract/json.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { ClientSettings } from '../../contract/model/model-config.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import type { AgentRun, Receipt } from './run.ts'

/** What may be said about one run, wherever its agent is. */
export interface ChatOptions extends ClientSettings {
  /** One of the models that the agent's `choices` list. Default: the agent's own. */
  model?: string
  /** Names of tools that its `choices` list, switched on for this run. */
  tools?: readonly string[]
  /** Stops the run when it aborts; the caller owns it. */
  signal?: AbortSignal
  /** Any JSON, passed through to `agentStart`. */
  metadata?: JsonValue
}

/**
 * A conversation, wherever its agent is: an `Agent` in this process, or a `remoteSession` of `phi-core/client`. What is written against this, such as
 * `createStore` and a page, need not know which.
 *
 * **Contract**
 * - Every method returns at once. Where the agent is elsewhere, `messages` and `pendingApprovals` say what this side has heard so far.
 * - A method that begins a run throws `AgentBusyError` while one is known to be on.
 * - Approvals are given on the run: `currentRun.approve(request)`. Where none is on, `continueLoop` asks again for what waits.
 *
 * Source: docs/guides/serve-over-http.md
 */
export interface ChatAgent {
  readonly sessionId: string
  /** What was said, the oldest first. */
  readonly messages: readonly AgentMessage[]
  /** The run that is on. */
  readonly currentRun: AgentRun | undefined
  readonly isStreaming: boolean
  prompt(input: PromptInput, options?: ChatOptions): AgentRun
  /** Says something whatever the history ends with. */
  send(input: PromptInput, options?: ChatOptions): AgentRun
  continueLoop(options?: ChatOptions): AgentRun
  compact(options?: Pick<ChatOptions, 'signal' | 'metadata'> & { focusMessage?: string }): AgentRun
  /** Has what a user said answered again: the last of it, or what the message `messageId` belongs to. */
  regenerate(options?: ChatOptions & { messageId?: string }): AgentRun
  /** Says `input` instead of the user message with this id. */
  editAndResend(messageId: string, input: PromptInput, options?: ChatOptions): AgentRun
  steer(input: PromptInput): Receipt
  followUp(input: PromptInput): Receipt
  /** Stops the run that is on, if any. */
  abort(reason?: unknown): void
  /** Calls that wait for a person. */
  pendingApprovals(): PendingApproval[]
  /** Calls that wait for a page to run them. */
  pendingClientCalls(): PendingClientCall[]
  /** Calls `listener` for every event of every run from now on; returns how to stop. */
  subscribe(listener: (event: AgentEvent) => void): () => void
}
