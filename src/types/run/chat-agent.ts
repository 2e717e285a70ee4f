import type { JsonValue } from '../../contract/json.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { ClientSettings } from '../../contract/model/model-config.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import type { AgentRun, Receipt } from './run.ts'

/** Options for one run of a local or remote agent. */
export interface ChatOptions extends ClientSettings {
  /** A model name from the agent's `choices`. Default: the agent's own model. */
  model?: string
  /** Names of tools in `choices` to enable for this run. */
  tools?: readonly string[]
  /** Aborts the run. The caller owns the signal. */
  signal?: AbortSignal
  /** Any JSON, passed through to `agentStart`. */
  metadata?: JsonValue
}

/**
 * A conversation with an agent, either an `Agent` in this process or a `remoteSession` from `phi-core/client`. Code such as `createStore`
 * works with both.
 *
 * **Contract**
 * - Every method returns immediately. For a remote agent, `messages` and `pendingApprovals` return the state that this client has received
 *   so far.
 * - Methods that start a run throw `AgentBusyError` if this client knows of a current run.
 * - Decide approvals on the run: `currentRun.approve(request)`. If no run is running, `continueLoop` requests pending approvals again.
 *
 * Source: docs/guides/serve-over-http.md
 */
export interface ChatAgent {
  readonly sessionId: string
  /** The history, oldest first. */
  readonly messages: readonly AgentMessage[]
  /** The current run, if any. */
  readonly currentRun: AgentRun | undefined
  readonly isStreaming: boolean
  prompt(input: PromptInput, options?: ChatOptions): AgentRun
  /** Sends a prompt, regardless of the last message in the history. */
  send(input: PromptInput, options?: ChatOptions): AgentRun
  continueLoop(options?: ChatOptions): AgentRun
  compact(options?: Pick<ChatOptions, 'signal' | 'metadata'> & { focusMessage?: string }): AgentRun
  /** Generates a new response to the last user message, or to the user message at or before `messageId`. */
  regenerate(options?: ChatOptions & { messageId?: string }): AgentRun
  /** Replaces the user message with this id by `input` and generates a new response. */
  editAndResend(messageId: string, input: PromptInput, options?: ChatOptions): AgentRun
  steer(input: PromptInput): Receipt
  followUp(input: PromptInput): Receipt
  /** Stops the current run, if any. */
  abort(reason?: unknown): void
  /** Returns tool calls with a pending approval. */
  pendingApprovals(): PendingApproval[]
  /** Returns pending client tool calls. */
  pendingClientCalls(): PendingClientCall[]
  /** Calls `listener` for every later event of every run. Returns a function that unsubscribes. */
  subscribe(listener: (event: AgentEvent) => void): () => void
}
