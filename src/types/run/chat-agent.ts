import type { JsonValue } from '../../contract/json.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { ClientSettings } from '../../contract/model/model-config.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import type { AgentRun, Receipt } from './run.ts'

/** Options of one run of a local or remote agent. */
export interface ChatOptions extends ClientSettings {
  /** One of the models in the agent's `choices`. Default: the agent's own model. */
  model?: string
  /** Names of tools in `choices` to enable for this run. */
  tools?: readonly string[]
  /** Aborts the run; owned by the caller. */
  signal?: AbortSignal
  /** Any JSON, passed through to `agentStart`. */
  metadata?: JsonValue
}

/**
 * A conversation with a local or remote agent: an `Agent` in this process, or a `remoteSession` of `phi-core/client`. Code such as
 * `createStore` works with both.
 *
 * **Contract**
 * - Every method returns at once. For a remote agent, `messages` and `pendingApprovals` return what this client has received so far.
 * - A method that starts a run throws `AgentBusyError` while a run is known to be running.
 * - Decide approvals on the run: `currentRun.approve(request)`. If no run is running, `continueLoop` requests pending approvals again.
 *
 * Source: docs/guides/serve-over-http.md
 */
export interface ChatAgent {
  readonly sessionId: string
  /** The history, oldest first. */
  readonly messages: readonly AgentMessage[]
  /** The running run, if any. */
  readonly currentRun: AgentRun | undefined
  readonly isStreaming: boolean
  prompt(input: PromptInput, options?: ChatOptions): AgentRun
  /** Sends a prompt, whatever the last message of the history is. */
  send(input: PromptInput, options?: ChatOptions): AgentRun
  continueLoop(options?: ChatOptions): AgentRun
  compact(options?: Pick<ChatOptions, 'signal' | 'metadata'> & { focusMessage?: string }): AgentRun
  /** Generates a new response to the last user message, or to the user message that `messageId` belongs to. */
  regenerate(options?: ChatOptions & { messageId?: string }): AgentRun
  /** Replaces the user message with this id by `input` and generates a new response. */
  editAndResend(messageId: string, input: PromptInput, options?: ChatOptions): AgentRun
  steer(input: PromptInput): Receipt
  followUp(input: PromptInput): Receipt
  /** Stops the running run, if any. */
  abort(reason?: unknown): void
  /** Returns tool calls with a pending approval. */
  pendingApprovals(): PendingApproval[]
  /** Returns pending client tool calls. */
  pendingClientCalls(): PendingClientCall[]
  /** Calls `listener` for every later event of every run. Returns a function that unsubscribes. */
  subscribe(listener: (event: AgentEvent) => void): () => void
}
