/** OpenAI and Azure share the codec of the Responses API, so the registry, and agent files, load them as one chunk. */
export { azure, azureProvider } from '../azure/index.ts'
export { openAiResponsesProvider, openaiResponses } from './index.ts'
