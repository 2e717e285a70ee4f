import type { JsonValue } from '../../contract/json.ts'
import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { PendingApproval, PendingInput, RunFailure } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { ChatOptions } from '../../types/run/chat-agent.ts'
import type { ApprovalRef, InputAnswer, InputRef } from '../../types/run/question.ts'
import type { ToolTypesByName } from '../../types/tool/typed-tool.ts'
import type { BlockView, MessageView, RunState, ToolStatus } from '../state.ts'

/** A call of a tool on screen, with all that is known of it. `part.toolName === 'add'` narrows `input` and `output` where the tools are typed; else both are `unknown`. */
export type ToolPart<Tools extends ToolTypesByName = ToolTypesByName> = {
  [Name in keyof Tools & string]: {
    type: 'tool'
    toolCallId: string
    toolName: Name
    status: ToolStatus
    /** The arguments as far as they have come, as text. */
    inputText: string
    /** The arguments, once they are complete. */
    input?: Tools[Name]['input']
    /** What the tool gave back to people: `details`, where there are any, else its text; a text that is a JSON object or list is given as that. */
    output?: Tools[Name]['output']
    /** All of the result, also while it is partial. */
    result?: ToolResult
    /** The newest line of progress. */
    progress?: string
    /** Why a person refused. */
    reason?: string
    /** Milliseconds the execution took. */
    durationMs?: number
    /** What a person is asked before the call runs. */
    approval?: PendingApproval
    /** What the running call asks a person. */
    question?: PendingInput
    /** The loop that the call runs, where its tool tells of it. */
    child?: RunState
  }
}[keyof Tools & string]

/** A piece of a message on screen: text, thinking, media, what a service did, or a call with its result. The object is replaced when it changes, and only then. */
export type ChatPart<Tools extends ToolTypesByName = ToolTypesByName> = Exclude<BlockView, { type: 'toolCall' }> | ToolPart<Tools>

/** A message on screen. The object is replaced when anything in it changes, and only then. */
export interface ChatMessage<Part = ChatPart> extends Omit<MessageView, 'blocks' | 'role'> {
  role: Exclude<AgentMessage['role'], 'toolResult'>
  parts: readonly Part[]
}

/** Something that waits to be said in the run that is on. */
export interface QueuedMessage {
  id: string
  kind: 'steer' | 'followUp'
  message: AgentMessage
}

/** What an edit or another answer has replaced, and can be gone back to. */
export interface ChatBranch {
  id: string
  /** The message that it has in place of others: a question that was edited, or the first of an answer. */
  messageId: string
  /** The message before that; absent: it is the first. */
  afterMessageId?: string
  /** All that was said on it, from the beginning of the conversation. */
  messages: readonly AgentMessage[]
}

/** What has gone wrong, until something else is done. */
export type ChatError = Pick<RunFailure, 'code' | 'message'>

/** What a person does. None of it throws or rejects: what could not be done is `error` of the state. The functions are always the same. */
export interface ChatActions {
  /**
   * Says something: by a run, or where one is on, after its answer. Resolves with true once it is in the conversation, with false where it was refused: the words
   * are the caller's to keep until then.
   */
  send(input: PromptInput, options?: ChatOptions): Promise<boolean>
  /** Says something to the run that is on, at its next turn; otherwise as `send`. */
  steer(input: PromptInput): Promise<boolean>
  /** Takes back what waits to be said. */
  withdraw(id: string): void
  /** Stops the run that is on. */
  stop(): void
  /** Goes on after a run that was stopped, failed or was left. */
  proceed(options?: ChatOptions): Promise<boolean>
  /** Lets the call run that was shown: an entry of `approvals`. Where its run has ended `paused`, it is continued. */
  approve(request: ApprovalRef): Promise<void>
  /** Refuses a call that waits. */
  deny(request: ApprovalRef, reason?: string): Promise<void>
  /** Answers what a running call asks: an entry of `inputs`. */
  answer(request: InputRef | string, answer: InputAnswer): void
  /** Says `input` instead of the user message with this id. What it replaces is one of `branches`. */
  edit(messageId: string, input: PromptInput, options?: ChatOptions): Promise<boolean>
  /** Has the last question answered again, or that which the message `messageId` belongs to. */
  regenerate(options?: ChatOptions & { messageId?: string }): Promise<boolean>
  /** Goes back to one of `branches`; what is shown now is one of them then. */
  goTo(branchId: string): Promise<void>
  /** Reads a session on a server again, after its connection was lost. */
  reload(): Promise<void>
}

/** What a page shows of a conversation and does with it, as one immutable value. Source: docs/guides/frameworks.md */
export interface ChatState<Part = ChatPart> extends ChatActions {
  /** `loading`: what was said is still read from the server. Else that of the run. */
  status: 'loading' | RunState['status']
  /** In order, the one that is written last. Results of tools are in the parts of their calls. */
  messages: readonly ChatMessage<Part>[]
  /** The same list until a message comes or goes. */
  messageIds: readonly string[]
  /** Calls that wait for a person, oldest first, those of sub-agents among them. */
  approvals: readonly PendingApproval[]
  /** What running calls ask a person, oldest first. */
  inputs: readonly PendingInput[]
  /** What waits to be said, oldest first. */
  queue: readonly QueuedMessage[]
  /** What was replaced in this page: see `goTo`. */
  branches: readonly ChatBranch[]
  /** Tokens of all runs. */
  usage: Usage
  /** Why the run failed, or what could not be done. */
  error?: ChatError
  /** The answer as a value, while it is written: see `Store`. */
  output?: JsonValue
  /** All else that is known: turns, notes, the retry that is waited for. */
  run: RunState
}
