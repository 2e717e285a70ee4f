import type { Model } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'
import { bedrock } from 'phi-core/providers/bedrock'
import { google, vertex } from 'phi-core/providers/google'
import { azure, openai, openaiResponses } from 'phi-core/providers/openai'

const apiKey = 'key'

/** Models that take a PDF, one for each protocol, at an address. */
export const protocols: Record<string, (baseUrl: string) => Model> = {
  anthropic: (baseUrl) => anthropic('claude-sonnet-4-6', { apiKey, baseUrl }),
  openai: (baseUrl) => openai('gpt-5', { apiKey, baseUrl }),
  'openai-responses': (baseUrl) => openaiResponses('gpt-5', { apiKey, baseUrl }),
  azure: (baseUrl) => azure('gpt-5', { apiKey, baseUrl }),
  google: (baseUrl) => google('gemini-3-pro', { apiKey, baseUrl }),
  vertex: (baseUrl) => vertex('gemini-3-pro', { apiKey, baseUrl, project: 'p' }),
  bedrock: (baseUrl) => bedrock('anthropic.claude-sonnet-4-6', { apiKey, region: 'eu-central-1', baseUrl }),
}
