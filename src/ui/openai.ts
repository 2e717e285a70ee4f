/**
 * Encodes runs for clients of OpenAI's APIs: events to chat completion chunks and response events, and requests to input. Pure, in any
 * runtime, without an OpenAI package.
 *
 * @module
 */

export { type ChatChunk, type ChatCompletion, chatCompletionOf } from './openai/chat/chat-completion.ts'
export { type ChatEncoder, chatCompletionEncoder, chatStreamEnd, openAiSse } from './openai/chat/chat-encoder.ts'
export { type CompletionRequest, readCompletionRequest } from './openai/chat/read-completion-request.ts'
export { type ResponseRequest, readResponseRequest } from './openai/responses/read-response-request.ts'
export { responseIn } from './openai/responses/reference.ts'
export type { ResponseEvent, ResponseObject } from './openai/responses/response.ts'
export { type ResponseEncoder, recordedResponse, responseEncoder, responseSse } from './openai/responses/response-encoder.ts'
export type { ReadRequest } from './openai/shared/caller-fault.ts'
export { brokenOff, failureOf, type OpenAiError } from './openai/shared/failure.ts'
