import type { JsonValue } from '../../contract/json.ts'
import type { PatchStep } from '../../contract/session/shared-state.ts'

/** A content part in user input or in a tool result. */
export type AgUiPart = { type: 'text'; text: string } | { type: AgUiMediaType; source: AgUiSource; metadata?: { filename: string } }

/** Media types of AG-UI parts. */
export type AgUiMediaType = 'image' | 'audio' | 'video' | 'document'

/** Bytes, URL, or provider file id of the media. */
export type AgUiSource = { type: 'data'; value: string; mimeType: string } | { type: 'url' | 'file'; value: string; mimeType?: string }

/** A tool call in an assistant message. `arguments` is the model's original text. */
export interface AgUiToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** Parts of a response other than text, thinking and calls. */
export const activityTypes = ['phi.image', 'phi.file', 'phi.sources'] as const
export type AgUiActivityType = (typeof activityTypes)[number]

/** A message as AG-UI clients store it. */
export type AgUiMessage =
  | { id: string; role: 'user'; content: string | AgUiPart[] }
  | { id: string; role: 'system'; content: string }
  | { id: string; role: 'assistant'; content?: string; toolCalls?: AgUiToolCall[] }
  | { id: string; role: 'reasoning'; content: string }
  /** `phi.image` and `phi.file`: a block of the response. `phi.sources`: the sources of its texts. */
  | { id: string; role: 'activity'; activityType: AgUiActivityType; content: { [name: string]: unknown } }
  | { id: string; role: 'tool'; toolCallId: string; content: string | AgUiPart[]; metadata?: { isError: true; outcome?: 'unknown' } }

/** Token usage of one model. `inputTokens` includes cached tokens, which are also reported separately. */
export interface AgUiTokenUsage {
  /** Absent for usage that belongs to no model call in the stream. */
  provider?: string
  model?: string
  inputTokens: number
  outputTokens: number
  totalTokens: number
  reasoningTokens: number
  cachedInputTokens: number
  cacheWriteInputTokens: number
}

/** A pending approval in AG-UI. `id` is bound to the displayed arguments. */
export interface AgUiInterrupt {
  id: string
  reason: 'tool_call'
  message: string
  toolCallId: string
  /** JSON Schema of the decision: `{ approved: boolean, reason?: string, editedArgs?: object }`. */
  responseSchema: { [keyword: string]: JsonValue }
  metadata: { toolName: string; arguments: { [name: string]: JsonValue } }
}

/** Identifies the sub-agent that an event belongs to. */
interface Attributed {
  subagentRunId?: string
}

/** An AG-UI 1.0 event that the encoder emits. */
export type AgUiEvent = AgUiContentEvent | AgUiRunEvent

/** Events that frame the content: the run, and its sub-agents. */
export type AgUiRunEvent =
  | {
      type: 'RUN_STARTED'
      threadId: string
      runId: string
      protocolVersion: '1.0'
      input?: { threadId: string; runId: string; messages: AgUiMessage[]; tools: []; context: [] }
    }
  | {
      type: 'RUN_FINISHED'
      threadId: string
      runId: string
      result?: { status: string }
      outcome: { type: 'success' } | { type: 'cancelled' } | { type: 'interrupt'; interrupts: AgUiInterrupt[] }
      usage: AgUiTokenUsage[]
    }
  | { type: 'RUN_ERROR'; message: string; code: string; usage: AgUiTokenUsage[] }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgUiMessage[]; metadata: { '@ag-ui/client': { authoritativeActivityTypes: string[] } } }
  /** `snapshot.$version` identifies the state's version. Clients send it back with the state. */
  | { type: 'STATE_SNAPSHOT'; snapshot: { [name: string]: JsonValue } }
  | { type: 'STATE_DELTA'; delta: PatchStep[] }
  | { type: 'STEP_STARTED' | 'STEP_FINISHED'; stepName: string }
  | { type: 'SUBAGENT_STARTED'; subagentRunId: string; name: string; parentToolCallId: string; parentSubagentRunId?: string }
  | { type: 'SUBAGENT_FINISHED'; subagentRunId: string; outcome: { type: 'success' } | { type: 'suspended' } }
  | { type: 'SUBAGENT_ERROR'; subagentRunId: string; message: string; code: string }

/** Content events of the agent or a sub-agent. */
export type AgUiContentEvent =
  | ({ type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' | 'user' | 'system' } & Attributed)
  | ({ type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string } & Attributed)
  | ({ type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' } & Attributed)
  | ({ type: 'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END'; messageId: string } & Attributed)
  | ({ type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string; parentMessageId?: string } & Attributed)
  | ({ type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string } & Attributed)
  | ({ type: 'TOOL_CALL_END'; toolCallId: string } & Attributed)
  | ({
      type: 'TOOL_CALL_RESULT'
      messageId: string
      toolCallId: string
      role: 'tool'
      content: string | AgUiPart[]
      metadata?: { isError: true; outcome?: 'unknown' }
    } & Attributed)
  | ({
      type: 'ACTIVITY_SNAPSHOT'
      messageId: string
      activityType: AgUiActivityType
      content: { [name: string]: unknown }
      replace: true
    } & Attributed)
  | ({ type: 'CUSTOM'; name: string; value: object } & Attributed)
