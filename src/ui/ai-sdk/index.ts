/**
 * Runs of our agents for `useChat` of the AI SDK: events to chunks, histories to messages, and what its requests say. Pure, in any runtime,
 * without a package of the AI SDK.
 *
 * @module
 */
export { approvalIdOf, parseApprovalId, type Read, type ToolDecision } from '../shared/client-input.ts'
export type { WaitingForPerson } from '../shared/open-calls.ts'
export { uiMessageEncoder } from './encoder.ts'
export {
  type UiEncoderOptions,
  type UiMessageEncoder,
  uiMessageSse,
  uiMessageStreamEnd,
  uiMessageStreamHeaders,
} from './encoder-contract.ts'
export { outputOf, type WithText } from './output-of.ts'
export { type ChatRequest, readChatRequest } from './read-chat-request.ts'
export { type UiReplyOptions, uiMessageReply } from './reply.ts'
export { historyIndexOf, toUiMessages, type UiMessageOptions } from './to-ui-messages.ts'
export type {
  CostOf,
  Interjection,
  UiChunk,
  UiFilePart,
  UiFinishReason,
  UiMessage,
  UiMetadata,
  UiPart,
  UiReasoningPart,
  UiTextPart,
  UiToolCall,
  UiToolEnd,
  UiToolOutput,
  UiToolPart,
  UiToolState,
} from './ui-message.ts'
