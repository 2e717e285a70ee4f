import { describe, expect, it } from 'vitest'
import type { Upstream } from '../../../../adapters/http/index.ts'
import { Agent, type Model } from '../../../../src/index.ts'
import { anthropic as anthropicFactory } from '../../../../src/providers/anthropic/index.ts'
import { azure as azureFactory } from '../../../../src/providers/azure/index.ts'
import { bedrock as bedrockFactory } from '../../../../src/providers/bedrock/index.ts'
import { google as googleFactory } from '../../../../src/providers/google/index.ts'
import { openaiCompatible, openai as openaiFactory } from '../../../../src/providers/openai.ts'
import { openaiResponses as responsesFactory } from '../../../../src/providers/openai-responses/index.ts'
import { vertex as vertexFactory } from '../../../../src/providers/vertex/index.ts'
import { anthropic } from '../../../harness/server/anthropic.ts'
import { bedrock } from '../../../harness/server/bedrock.ts'
import { google, vertex } from '../../../harness/server/google.ts'
import { openai } from '../../../harness/server/openai.ts'
import { azure, openaiResponses } from '../../../harness/server/openai-responses.ts'
import type { Protocol } from '../../../harness/server/scenarios.ts'
import { fakeUpstream, proxyTo, secret, serving } from './fake-upstream.ts'

const vertexModels = '/v1/projects/p/locations/global/publishers/google/models'
const arn = 'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-6'

interface Row {
  wire: string
  protocol: Protocol
  upstream: (url: string) => Upstream
  model: (baseUrl: string, options: { apiKey?: string; headers?: Record<string, string> }) => Model
  /** What the service must see. */
  target: string
  key: Record<string, string | RegExp>
}

const bearer = { authorization: `Bearer ${secret}` }
const signed = {
  authorization:
    /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE123456\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=[\w;-]+, Signature=[0-9a-f]{64}$/,
  'x-amz-content-sha256': /^[0-9a-f]{64}$/,
}

const rows: Row[] = [
  {
    wire: 'Anthropic Messages',
    protocol: anthropic,
    upstream: (url) => ({ api: 'anthropicMessages', baseUrl: url }),
    model: (baseUrl, options) => anthropicFactory('claude-sonnet-5', { baseUrl, ...options }),
    target: '/v1/messages',
    key: { 'x-api-key': secret, 'anthropic-version': '2023-06-01' },
  },
  {
    wire: 'OpenAI Chat Completions',
    protocol: openai,
    upstream: (url) => ({ api: 'openAiCompletions', baseUrl: `${url}/v1` }),
    model: (baseUrl, options) => openaiFactory('gpt-6', { baseUrl, ...options }),
    target: '/v1/chat/completions',
    key: bearer,
  },
  {
    wire: 'a compatible service, with a version in baseUrl',
    protocol: openai,
    upstream: (url) => ({ api: 'openAiCompletions', baseUrl: `${url}/openai/v1/` }),
    model: (baseUrl, options) => openaiCompatible('qwen3', { baseUrl: `${baseUrl}/v1`, ...options }),
    target: '/openai/v1/chat/completions',
    key: bearer,
  },
  {
    wire: 'OpenAI Responses',
    protocol: openaiResponses,
    upstream: (url) => ({ api: 'openAiResponses', baseUrl: `${url}/v1` }),
    model: (baseUrl, options) => responsesFactory('gpt-6', { baseUrl, ...options }),
    target: '/v1/responses',
    key: bearer,
  },
  {
    wire: 'Azure OpenAI',
    protocol: azure,
    upstream: (url) => ({ api: 'azureOpenAiResponses', baseUrl: url }),
    model: (baseUrl, options) => azureFactory('my-deployment', { baseUrl, ...options }),
    target: '/openai/v1/responses',
    key: { 'api-key': secret },
  },
  {
    wire: 'Azure OpenAI, on the dated route',
    protocol: azure,
    upstream: (url) => ({ api: 'azureOpenAiResponses', baseUrl: `${url}/openai/v1/`, keyPlace: 'bearer' }),
    model: (baseUrl, options) => azureFactory('my-deployment', { baseUrl, apiVersion: '2025-04-01-preview', ...options }),
    target: '/openai/responses?api-version=2025-04-01-preview',
    key: bearer,
  },
  {
    wire: 'Google Gemini',
    protocol: google,
    upstream: (url) => ({ api: 'googleGenerativeAi', baseUrl: url }),
    model: (baseUrl, options) => googleFactory('gemini-3.5-flash', { baseUrl, ...options }),
    target: '/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
    key: { 'x-goog-api-key': secret },
  },
  {
    wire: 'Vertex AI',
    protocol: vertex,
    upstream: (url) => ({ api: 'googleVertex', baseUrl: url + vertexModels }),
    model: (baseUrl, options) => vertexFactory('gemini-3.5-flash', { baseUrl, ...options }),
    target: `${vertexModels}/gemini-3.5-flash:streamGenerateContent?alt=sse`,
    key: bearer,
  },
  {
    wire: 'Vertex AI, with the project in the path',
    protocol: vertex,
    upstream: (url) => ({ api: 'googleVertex', baseUrl: url + vertexModels }),
    model: (baseUrl, options) => vertexFactory('gemini-3.5-flash', { baseUrl, project: 'p', location: 'global', ...options }),
    target: `${vertexModels}/gemini-3.5-flash:streamGenerateContent?alt=sse`,
    key: bearer,
  },
  {
    wire: 'Amazon Bedrock with an API key',
    protocol: bedrock,
    upstream: (url) => ({ api: 'bedrockConverseStream', baseUrl: url }),
    model: (baseUrl, options) => bedrockFactory(arn, { baseUrl, ...options }),
    target: `/model/${encodeURIComponent(arn)}/converse-stream`,
    key: bearer,
  },
  {
    wire: 'Amazon Bedrock with credentials to sign with',
    protocol: bedrock,
    upstream: (url) => ({
      api: 'bedrockConverseStream',
      baseUrl: url,
      region: 'eu-west-1',
      apiKey: 'AKIAEXAMPLE123456:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    }),
    model: (baseUrl, options) => bedrockFactory('us.anthropic.claude-sonnet-4-6', { baseUrl, ...options }),
    target: '/model/us.anthropic.claude-sonnet-4-6/converse-stream',
    key: signed,
  },
]

/** All that a service may see of a call. */
const expectedHeaders = new Set([
  ...['host', 'connection', 'content-type', 'content-length', 'transfer-encoding', 'accept', 'accept-encoding', 'accept-language'],
  ...['user-agent', 'sec-fetch-mode', 'anthropic-version', 'authorization', 'x-api-key', 'api-key', 'x-goog-api-key'],
  ...['x-amz-content-sha256', 'x-amz-date'],
])

describe.each(rows)('$wire behind the proxy', ({ protocol, upstream, model, target, key }) => {
  const frames = protocol.frames({ text: ['Hello', ', ', 'wörld', '.'] })
  const turn = Buffer.concat(frames.map((frame) => Buffer.from(frame)))

  it.each([{}, { apiKey: 'the-token-of-the-user' }])("streams with the server's key regardless of the client's key (%o)", async (own) => {
    const service = await fakeUpstream((_, response) => {
      response.writeHead(200, {
        'content-type': protocol.contentType ?? 'text/event-stream',
        'set-cookie': 'a=b',
        'x-ratelimit-limit': '5',
      })
      response.end(turn)
    })
    const { app, reports, over } = proxyTo(upstream(service.url))
    const baseUrl = `${await serving(app)}/up`
    const headers = { cookie: 'session=1', 'x-user': 'ann', 'x-forwarded-for': '1.2.3.4', 'openai-organization': 'org', 'x-custom': 'c' }
    const agent = new Agent({ model: model(baseUrl, { ...own, headers }) })
    expect(await agent.prompt('Hi').text()).toBe('Hello, wörld.')
    const [call] = service.seen
    expect(call).toMatchObject({ method: 'POST', target })
    for (const [name, value] of Object.entries(key)) {
      if (typeof value === 'string') expect(call?.headers[name]).toBe(value)
      else expect(call?.headers[name]).toMatch(value)
    }
    expect(Object.keys(call?.headers ?? {}).filter((name) => !expectedHeaders.has(name))).toEqual([])
    expect(JSON.stringify(call)).not.toContain('the-token-of-the-user')
    await over(1)
    const usage = agent.messages.findLast((message) => message.role === 'assistant')?.usage
    expect(reports[0]).toMatchObject({ identity: 'ann', upstream: 'up', status: 200, ending: 'whole', bytes: turn.length, usage })
    expect(usage?.totalTokens).toBeGreaterThan(0)
  })
})
