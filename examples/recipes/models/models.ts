import type { CredentialProvider, Model } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'
import { type AwsCredentialSource, bedrock } from 'phi-core/providers/bedrock'
import { google, vertex } from 'phi-core/providers/google'
import { azure, local, openai, openaiCompatible, openaiResponses, openrouter } from 'phi-core/providers/openai'
import { scripted } from 'phi-core/testing'

// #region anthropic
export function claude(apiKey: string): Model {
  return anthropic('claude-sonnet-4-6', {
    apiKey,
    maxTokens: 16_000,
    cost: { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 },
  })
}
// #endregion anthropic

// #region oauth
/** Uses a Claude subscription token. Read about the risk before you use one. */
export function subscribed(token: string): Model {
  return anthropic('claude-sonnet-4-6', { apiKey: token, oauth: true })
}
// #endregion oauth

// #region openai
export function compatibleModels(apiKey: string): Model[] {
  return [
    openai('gpt-5.1', { apiKey }),
    openrouter('anthropic/claude-sonnet-4.6', { apiKey }),
    openaiCompatible('grok-4', { backend: 'xai', apiKey }),
    openaiCompatible('my-model', { baseUrl: 'https://llm.example.com/v1', apiKey, compat: { supportsDeveloperRole: true } }),
    local('qwen3'),
    local('my-model', { baseUrl: 'http://localhost:1234/v1' }),
  ]
}
// #endregion openai

// #region openai-responses
export function responsesModels(apiKey: string): Model[] {
  return [
    openaiResponses('gpt-6-sol', { apiKey, maxTokens: 16_000 }),
    openaiResponses('grok-4.3', { apiKey, provider: 'xai', baseUrl: 'https://api.x.ai/v1' }),
  ]
}
// #endregion openai-responses

// #region azure
/** The id is the name of the deployment; `underlyingModel` is its model. */
export function deployments(apiKey: string, entraToken: CredentialProvider): Model[] {
  return [
    azure('my-deployment', { resource: 'my-resource', apiKey, underlyingModel: 'gpt-5.1' }),
    azure('my-deployment', { baseUrl: 'https://my-resource.services.ai.azure.com', apiKey: entraToken, auth: 'entra' }),
  ]
}
// #endregion azure

// #region google
export function gemini(apiKey: string): Model {
  return google('gemini-3.5-flash', { apiKey, maxTokens: 16_000 })
}
// #endregion google

// #region vertex
/** `tokens` supplies OAuth access tokens, and a new token after a rejection. */
export function geminiOnVertex(project: string, tokens: CredentialProvider): Model {
  return vertex('gemini-3.5-flash', { project, location: 'global', apiKey: tokens })
}
// #endregion vertex

// #region bedrock
/** Uses a Bedrock API key, or AWS credentials from a source that renews them, such as a credential provider of the AWS SDK. */
export function onBedrock(apiKey: string, credentials: AwsCredentialSource): Model[] {
  const region = 'us-west-2'
  return [bedrock('us.anthropic.claude-sonnet-4-6', { region, apiKey }), bedrock('us.amazon.nova-2-lite-v1:0', { region, credentials })]
}
// #endregion bedrock

// #region scripted
/** Calls `add`, then reports its result. */
export function addingModel(): Model {
  return scripted((request) => {
    const last = request.messages.at(-1)
    if (last?.role !== 'toolResult') return { thinking: 'I need a sum.', toolCalls: [{ name: 'add', arguments: { a: 2, b: 3 } }] }
    return { text: last.content.map((block) => (block.type === 'text' ? block.text : '')), usage: { input: 20, output: 5 } }
  })
}
// #endregion scripted

// #region browser
/** Calls a proxy that adds the key. Pass `location.origin` if the proxy serves `/v1/messages` on the same origin. */
export function throughProxy(baseUrl: string): Model {
  return anthropic('claude-sonnet-4-6', { baseUrl })
}

/** Uses the visitor's own key. Every script on the page can read it. */
export function withOwnKey(apiKey: string): Model {
  return anthropic('claude-sonnet-4-6', { apiKey, dangerouslyAllowBrowser: true })
}
// #endregion browser

// #region refresh
/** A key that expires. If the provider rejects it, phi-core calls `invalidate` and retries once with the next key. */
export function refreshing(fetchToken: () => Promise<string>): Model {
  let token: string | undefined
  return anthropic('claude-sonnet-4-6', {
    apiKey: {
      current: async () => {
        token ??= await fetchToken()
        return token
      },
      invalidate: () => {
        token = undefined
      },
    },
  })
}
// #endregion refresh
