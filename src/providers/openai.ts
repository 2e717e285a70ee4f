/**
 * Models with an OpenAI API: Chat Completions (OpenAI, OpenRouter, local servers, compatible providers), Responses, and Azure.
 *
 * ```ts
 * const model = openai('gpt-6-sol', { apiKey })
 * const small = local('qwen3')
 * const grok = openaiCompatible('grok-4', { backend: 'xai', apiKey })
 * ```
 *
 * @module
 */

export { type AzureAuth, type AzureOptions, azure } from './azure/index.ts'
export type { ProviderOptions } from './kit/provider-options.ts'
export { type BackendName, compatPresets } from './openai/backends.ts'
export type { Backend } from './openai/compat.ts'
export { type CompatibleOptions, local, openaiCompatible, openrouter } from './openai/compatible.ts'
export { type ChatModelOptions, openai } from './openai/provider.ts'
export { chatTools, openrouterTools } from './openai/server-tools.ts'
export { type OpenAiResponsesOptions, openaiResponses, openaiTools, type ReasoningSummary, xaiTools } from './openai-responses/index.ts'
