/**
 * Runs of our agents for clients of OpenAI's APIs: events to chunks of chat completions and to events of responses, and what their requests say. Pure, in any
 * runtime, without a package of OpenAI.
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
