import { userMessage } from '../../../src/contract/message/message.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { azure } from '../../../src/providers/azure/index.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai, openaiCompatible, openrouter } from '../../../src/providers/openai.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { vertex } from '../../../src/providers/vertex/index.ts'
import type { Model } from '../../../src/types/model/model.ts'
import type { EncodedRequest, StreamRequest } from '../../../src/types/model/provider.ts'
import { plainRequest } from '../model-call.ts'

const tools = ['add', 'sub'].map((name) => ({ name, description: name, parameters: { type: 'object', properties: {} } }))
export const apiKey = 'k'

/** What `model` is sent for a short prompt with `settings`. */
export function encoded(
  { config, provider }: Model,
  settings: Partial<StreamRequest>,
  changes: Partial<StreamRequest> = {},
): Promise<EncodedRequest> {
  return provider.encode(
    plainRequest(config, { messages: [userMessage('Hi.')], cache: { type: 'disabled' }, tools, ...changes, ...settings }),
  )
}

/** Models that take what is asked of them, where their protocol has a field for it. */
export const models = {
  anthropic: anthropic('claude-sonnet-4-6', { apiKey }),
  chat: openai('gpt-4.1', { apiKey }),
  reasoning: openai('gpt-5.1', { apiKey }),
  local: openaiCompatible('llama', { backend: 'vllm' }),
  router: openrouter('meta/llama', { apiKey }),
  responses: openaiResponses('gpt-5.1', { apiKey }),
  azure: azure('gpt-5.1', { apiKey, resource: 'r' }),
  google: google('gemini-2.0-flash', { apiKey }),
  vertex: vertex('gemini-2.0-flash', { apiKey }),
  bedrock: bedrock('anthropic.claude-sonnet-4-6', { apiKey }),
  // Those that count what they think.
  counting: anthropic('claude-sonnet-4-5', { apiKey }),
  flash: google('gemini-2.5-flash', { apiKey }),
} satisfies Record<string, Model>
export type Wire = keyof typeof models
