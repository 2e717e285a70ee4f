/**
 * Models that speak OpenAI Chat Completions: OpenAI itself, OpenRouter, local servers and every compatible service.
 *
 * ```ts
 * const model = openai('gpt-6-sol', { apiKey })
 * const small = local('qwen3')
 * const grok = openaiCompatible('grok-4', { backend: 'xai', apiKey })
 * ```
 *
 * @module
 */
export type { ProviderOptions } from '../kit/provider-options.ts'
export { type BackendName, compatPresets } from './backends.ts'
export { type Backend, defaultCompat } from './compat.ts'
export { type CompatibleOptions, local, openaiCompatible, openrouter } from './compatible.ts'
export { type ChatModelOptions, type ChatProviderOptions, openAiProvider, openai } from './provider.ts'
export { type ChatWebSearchOptions, chatTools, type OpenRouterWebSearchOptions, openrouterTools } from './server-tools.ts'
