import { lateChunk } from '../base/late/late-chunk.ts'

/** The providers as parts that are loaded when one of their protocols is used: nobody speaks all of them. */
export const lateProviders = {
  anthropic: lateChunk('the Anthropic provider', () => import('./anthropic/index.ts')),
  chat: lateChunk('the OpenAI provider', () => import('./openai/index.ts')),
  responses: lateChunk('the provider of the Responses API', () => import('./openai-responses/both-services.ts')),
  google: lateChunk('the Google provider', () => import('./google/both-services.ts')),
  bedrock: lateChunk('the Amazon Bedrock provider', () => import('./bedrock/index.ts')),
}
