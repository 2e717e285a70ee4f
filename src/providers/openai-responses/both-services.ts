/** OpenAI and Azure share the codec of the Responses API, so the registry loads them as one chunk. */
export { azureProvider } from '../azure/index.ts'
export { openAiResponsesProvider } from './index.ts'
