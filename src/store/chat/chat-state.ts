import type { JsonValue } from '../../contract/json.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { PendingApproval, PendingInput, RunFailure } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ChatOptions } from '../../types/run/chat-agent.ts'
import type { DataTypes } from '../../types/run/data.ts'
import type { ApprovalRef, ApproveOptions, InputAnswer, InputRef } from '../../types/run/question.ts'
import type { ToolTypesByName } from '../../types/tool/typed-tool.ts'
import type { BlockView, DataPartView, MessageView, RunState, ToolStatus } from '../state.ts'

/**
 * A tool call on screen. `part.toolName === 'add'` narrows `input` and `output` if the tools are typed. Otherwise both are `unknown`.
 */
export type ToolPart<Tools extends ToolTypesByName = ToolTypesByName> = {
  [Name in keyof Tools & string]: {
    type: 'tool'
    toolCallId: string
    toolName: Name
    status: ToolStatus
    /** The arguments received so far, as text. */
    inputText: string
    /** The complete arguments. Absent while they are streamed. */
    input?: Tools[Name]['input']
    /** The result for the user: `details` if present, otherwise the result text. Text that contains a JSON object or array is parsed. */
    output?: Tools[Name]['output']
    /** The complete or partial tool result. */
    result?: ToolResult
    /** Latest status line. */
    progress?: string
    /** Reason for the denial. */
    reason?: string
    /** Execution time in milliseconds. */
    durationMs?: number
    /** The call's pending approval. */
    approval?: PendingApproval
    /** The call's pending user input request. */
    question?: PendingInput
    /** The call's nested loop, if the tool forwards its events. */
    child?: RunState
  }
}[keyof Tools & string]

/**
 * A part of a message on screen: text, thinking, media, a provider-executed call, or a call with its result. The object is
 * replaced only when it changes.
 */
export type ChatPart<Tools extends ToolTypesByName = ToolTypesByName> = Exclude<BlockView, { type: 'toolCall' }> | ToolPart<Tools>

/** A data part on screen. `part.name === 'progress'` narrows `value` if the data is typed: see `InferData`. */
export type ChatData<Data extends DataTypes = DataTypes> = {
  [Name in keyof Data & string]: Omit<DataPartView, 'name' | 'value'> & { name: Name; value: Data[Name] }
}[keyof Data & string]

/** A message on screen. The object is replaced only when its content changes. */
export interface ChatMessage<Part = ChatPart> extends Omit<MessageView, 'blocks' | 'role'> {
  role: Exclude<AgentMessage['role'], 'toolResult'>
  parts: readonly Part[]
}

/** A message that is queued for the active run. */
export interface QueuedMessage {
  id: string
  kind: 'steer' | 'followUp'
  message: AgentMessage
}

/** A conversation branch that an edit or a regenerated response replaced. */
export interface ChatBranch {
  id: string
  /** The first message that differs in this branch: an edited prompt, or a response's first message. */
  messageId: string
  /** The last common message before it. Absent if the first message differs. */
  afterMessageId?: string
  /** All messages in the branch, from the beginning of the conversation. */
  messages: readonly AgentMessage[]
}

/** The last error, until the next action. */
export type ChatError = Pick<RunFailure, 'code' | 'message'>

/** User actions. They never throw or reject: a failure sets `error` in the state. The function objects never change. */
export interface ChatActions {
  /**
   * Sends a message: starts a run, or queues the message if one is active. Resolves with `true` when the message is in the conversation, or
   * `false` if it was refused. Keep the text until then.
   */
  send(input: PromptInput, options?: ChatOptions): Promise<boolean>
  /** Sends a message to the current run for its next turn. Otherwise like `send`. */
  steer(input: PromptInput): Promise<boolean>
  /** Withdraws a queued message. */
  withdraw(id: string): void
  /** Stops the active run. */
  stop(): void
  /** Continues after a run that was stopped, failed or abandoned. */
  proceed(options?: ChatOptions): Promise<boolean>
  /**
   * Approves a call in `approvals`, with the arguments in `options` if set. If its run ended `paused`, continues the run. If the arguments
   * are invalid, `error` says why and the call stays pending.
   */
  approve(request: ApprovalRef, options?: ApproveOptions): Promise<void>
  /** Denies a pending call. */
  deny(request: ApprovalRef, reason?: string): Promise<void>
  /** Responds to a user input request in `inputs`. */
  answer(request: InputRef | string, answer: InputAnswer): void
  /** Replaces the user message with this id by `input`. The old branch becomes one of `branches`. */
  edit(messageId: string, input: PromptInput, options?: ChatOptions): Promise<boolean>
  /** Regenerates the last response, or the response that contains the message `messageId`. */
  regenerate(options?: ChatOptions & { messageId?: string }): Promise<boolean>
  /** Switches to one of `branches`. The current branch is added to `branches`. */
  goTo(branchId: string): Promise<void>
  /** Reloads a remote session after its connection was lost. */
  reload(): Promise<void>
}

/** Immutable state of a conversation for a UI, including its actions. Source: docs/guides/frameworks.md */
export interface ChatState<Part = ChatPart, Data extends DataTypes = DataTypes> extends ChatActions {
  /** `loading` while the conversation is loaded from the server, otherwise the run status. */
  status: 'loading' | RunState['status']
  /** Messages in order. A streaming message is last. Tool results are in the parts of their calls. */
  messages: readonly ChatMessage<Part>[]
  /** Ids of `messages`. The list object changes only when a message is added or removed. */
  messageIds: readonly string[]
  /** Data parts of tools, hooks and plugins, and extension messages of the application: the newest per name and id. */
  data: readonly ChatData<Data>[]
  /** Pending approvals, oldest first, including those of sub-agents. */
  approvals: readonly PendingApproval[]
  /** Pending user input requests, oldest first. */
  inputs: readonly PendingInput[]
  /** Queued messages, oldest first. */
  queue: readonly QueuedMessage[]
  /** Branches that this client has replaced: see `goTo`. */
  branches: readonly ChatBranch[]
  /** Token usage of all runs. */
  usage: Usage
  /** Error from the run or from the last action. */
  error?: ChatError
  /** The streamed response as a parsed value. See `Store`. */
  output?: JsonValue
  /** The complete state: turns, notes, the pending retry. */
  run: RunState
}
