/**
 * Runs of our agents for clients of OpenAI's APIs: events to chunks of chat completions and to events of responses, and what their requests say. Pure, in any
 * runtime, without a package of OpenAI.
 *
 * @module
 */
export type { ToolDecision } from '../shared/client-input.ts'
export type { WaitingForPerson } from '../shared/open-calls.ts'
export {
  type ChatAnnotation,
  type ChatChunk,
  type ChatCompletion,
  type ChatDelta,
  type ChatFinishReason,
  type ChatPicture,
  type ChatToolCall,
  type ChatUsage,
  chatCompletionOf,
  type ErrorChunk,
} from './chat/chat-completion.ts'
export { type ChatEncoder, type ChatEncoderOptions, chatCompletionEncoder, chatStreamEnd, openAiSse } from './chat/chat-encoder.ts'
export { type CompletionRequest, readCompletionRequest } from './chat/read-completion-request.ts'
export { type ResponseRequest, readResponseRequest } from './responses/read-response-request.ts'
export { type NamedResponse, responseIn } from './responses/reference.ts'
export type { ResponseEcho, ResponseEvent, ResponseItem, ResponseObject, ResponsePart, ResponseUsage } from './responses/response.ts'
export {
  type RecordedAnswer,
  type ResponseEncoder,
  type ResponseEncoderOptions,
  recordedResponse,
  responseEncoder,
  responseSse,
} from './responses/response-encoder.ts'
export type { AnswerStepsOptions, UrlCitation } from './shared/answer-steps.ts'
export type { CallerFault, ReadRequest } from './shared/caller-fault.ts'
export type { CallerMessage, CallerRequest, InstructionsPlace, ReadOptions } from './shared/caller-request.ts'
export type { CallerSetting } from './shared/caller-settings.ts'
export type { CallerTool } from './shared/caller-tools.ts'
export { brokenOff, failureOf, type OpenAiError, type RunFailed } from './shared/failure.ts'
