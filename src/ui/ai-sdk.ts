/**
 * Encodes runs for `useChat` of the AI SDK: events to chunks, histories to messages, and requests to input. Pure, in any runtime, without an
 * AI SDK package.
 *
 * @module
 */

export { uiMessageEncoder } from './ai-sdk/encoder.ts'
export {
  type UiEncoderOptions,
  type UiMessageEncoder,
  uiMessageSse,
  uiMessageStreamEnd,
  uiMessageStreamHeaders,
} from './ai-sdk/encoder-contract.ts'
export { outputOf, type WithText } from './ai-sdk/output-of.ts'
export { type ChatRequest, readChatRequest } from './ai-sdk/read-chat-request.ts'
export { type UiReplyOptions, uiMessageReply } from './ai-sdk/reply.ts'
export { historyIndexOf, toUiMessages, type UiMessageOptions } from './ai-sdk/to-ui-messages.ts'
export type { CostOf, Interjection, UiChunk, UiFilePart, UiMessage, UiMetadata, UiPart, UiToolPart } from './ai-sdk/ui-message.ts'
export type { Read } from './shared/client-input.ts'
