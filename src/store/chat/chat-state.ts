import type { JsonValue } from '../../contract/json.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { PendingApproval, PendingInput, RunFailure } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ChatOptions } from '../../types/run/chat-agent.ts'
import type { ApprovalRef, InputAnswer, InputRef } from '../../types/run/question.ts'
import type { ToolTypesByName } from '../../types/tool/typed-tool.ts'
import type { BlockView, MessageView, RunState, ToolStatus } from '../state.ts'

/**
 * A tool call on screen. `part.toolName === 'add'` narrows `input` and `output` if the tools are typed; otherwise both are
 * `unknown`.
 */
export type ToolPart<Tools extends ToolTypesByName = ToolTypesByName> = {
  [Name in keyof Tools & string]: {
    type: 'tool'
    toolCallId: string
    toolName: Name
    status: ToolStatus
    /** The arguments received so far, as text. */
    inputText: string
    /** The arguments, once complete. */
    input?: Tools[Name]['input']
    /** The result for the user: `details` if present, else its text; a text that is a JSON object or list is parsed. */
    output?: Tools[Name]['output']
    /** The whole result, also while it is partial. */
    result?: ToolResult
    /** The last line of progress. */
    progress?: string
    /** The reason of a denial. */
    reason?: string
    /** Milliseconds of the execution. */
    durationMs?: number
    /** The pending approval of the call. */
    approval?: PendingApproval
    /** The pending user input request of the call. */
    question?: PendingInput
    /** The loop that the call runs, if its tool reports it. */
    child?: RunState
  }
}[keyof Tools & string]

/**
 * A part of a message on screen: text, thinking, media, a provider-executed call, or a call with its result. The object is
 * replaced only when it changes.
 */
export type ChatPart<Tools extends ToolTypesByName = ToolTypesByName> = Exclude<BlockView, { type: 'toolCall' }> | ToolPart<Tools>

/** A message on screen. The object is replaced only when anything in it changes. */
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

/** A replaced branch of the conversation, after an edit or another answer. */
export interface ChatBranch {
  id: string
  /** The message that differs: an edited prompt, or the first of an answer. */
  messageId: string
  /** The message before that; absent: it is the first. */
  afterMessageId?: string
  /** All that was said on it, from the beginning of the conversation. */
  messages: readonly AgentMessage[]
}

/** The last error, until the next action. */
export type ChatError = Pick<RunFailure, 'code' | 'message'>

/** Actions of the user. None throws or rejects: a failure is `error` of the state. The functions never change. */
export interface ChatActions {
  /**
   * Says something: by a run, or where one is on, after its answer. Resolves with true once it is in the conversation, with false where it was refused: the words
   * are the caller's to keep until then.
   */
  send(input: PromptInput, options?: ChatOptions): Promise<boolean>
  /** Sends a message to the current run for its next turn; otherwise like `send`. */
  steer(input: PromptInput): Promise<boolean>
  /** Withdraws a queued message. */
  withdraw(id: string): void
  /** Stops the run that is on. */
  stop(): void
  /** Continues after a run that was stopped, failed or was abandoned. */
  proceed(options?: ChatOptions): Promise<boolean>
  /** Allows a shown call: an entry of `approvals`. If its run has ended `paused`, it is continued. */
  approve(request: ApprovalRef): Promise<void>
  /** Refuses a call that waits. */
  deny(request: ApprovalRef, reason?: string): Promise<void>
  /** Responds to an input request: an entry of `inputs`. */
  answer(request: InputRef | string, answer: InputAnswer): void
  /** Replaces the user message with this id by `input`. The old branch becomes one of `branches`. */
  edit(messageId: string, input: PromptInput, options?: ChatOptions): Promise<boolean>
  /** Regenerates the last response, or that of the message `messageId`. */
  regenerate(options?: ChatOptions & { messageId?: string }): Promise<boolean>
  /** Restores one of `branches`; the current one becomes one of them. */
  goTo(branchId: string): Promise<void>
  /** Reads a session on a server again, after its connection was lost. */
  reload(): Promise<void>
}

/** The state of a conversation and its actions for a UI, as one immutable value. Source: docs/guides/frameworks.md */
export interface ChatState<Part = ChatPart> extends ChatActions {
  /** `loading`: the conversation is still loaded from the server. Else the status of the run. */
  status: 'loading' | RunState['status']
  /** In order, the streaming one last. Results of tools are in the parts of their calls. */
  messages: readonly ChatMessage<Part>[]
  /** The ids of `messages`. The same list until a message is added or removed. */
  messageIds: readonly string[]
  /** Pending approvals, oldest first, including those of sub-agents. */
  approvals: readonly PendingApproval[]
  /** Pending user input requests, oldest first. */
  inputs: readonly PendingInput[]
  /** Queued messages, oldest first. */
  queue: readonly QueuedMessage[]
  /** Branches that this client has replaced: see `goTo`. */
  branches: readonly ChatBranch[]
  /** Tokens of all runs. */
  usage: Usage
  /** Why the run or an action failed. */
  error?: ChatError
  /** The response as a value, while it is streamed: see `Store`. */
  output?: JsonValue
  /** The complete state: turns, notes, the pending retry. */
  run: RunState
}
