/** Lazy chunk with OpenAI and Azure, which share the Responses codec, for the registry and agent files. */
export { azure, azureProvider } from '../azure/index.ts'
export { openAiResponsesProvider, openaiResponses } from './index.ts'
