import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ConfigError, ProviderError } from '../../../src/contract/errors.ts'
import { type AzureOptions, azure, azureProvider } from '../../../src/providers/azure/index.ts'
import { answering, fixture } from '../bytes.ts'
import { bodyFor, called, canary, inputFor, request, result, user } from '../openai-responses/call.ts'

const encoded = (options: AzureOptions, credential = canary) => {
  const model = azure('prod', options)
  return model.provider.encode(request(model, { credential }))
}
const sent = async (options: AzureOptions) => {
  const { url, body } = await encoded(options)
  return `${url} ${JSON.parse(body).model}`
}

const current = 'https://r.openai.azure.com/openai/v1/responses'

describe('the request URL', () => {
  it.each([
    ['https://r.openai.azure.com', `${current} prod`],
    ['https://r.openai.azure.com/', `${current} prod`],
    ['https://r.openai.azure.com/openai', `${current} prod`],
    ['https://r.openai.azure.com/openai/v1/', `${current} prod`],
    ['https://r.openai.azure.com/openai/v1/responses', `${current} prod`],
    ['https://r.openai.azure.com/openai/v1/chat/completions', `${current} prod`],
    ['https://r.openai.azure.com/openai/v1?api-version=preview', `${current}?api-version=preview prod`],
    ['https://r.openai.azure.com/openai/deployments/gpt%204', `${current} gpt 4`],
    ['https://r.openai.azure.com/openai/deployments/dep/', `${current} dep`],
    ['https://r.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2025-01-01-preview', `${current} dep`],
    ['https://r.openai.azure.com/openai/deployments/dep/responses?api-version=2025-01-01-preview', `${current} dep`],
    [
      'https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview',
      'https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview prod',
    ],
    [
      'https://r.openai.azure.com?api-version=2025-04-01-preview',
      'https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview prod',
    ],
    ['https://r.services.ai.azure.com', 'https://r.services.ai.azure.com/openai/v1/responses prod'],
    ['https://r.services.ai.azure.com/models', 'https://r.services.ai.azure.com/openai/v1/responses prod'],
    ['https://r.services.ai.azure.com/api/projects/p', 'https://r.services.ai.azure.com/api/projects/p/openai/v1/responses prod'],
    ['https://r.cognitiveservices.azure.com/', 'https://r.cognitiveservices.azure.com/openai/v1/responses prod'],
    ['https://proxy.example/team/azure', 'https://proxy.example/team/azure/openai/v1/responses prod'],
    ['https://proxy.example/own/responses?tenant=1', 'https://proxy.example/own/responses?tenant=1 prod'],
  ])('derives the URL from baseUrl %s', async (baseUrl, expected) => {
    expect(await sent({ baseUrl })).toBe(expected)
  })

  it('derives the URL from the resource name', async () => {
    expect(await sent({ resource: 'r' })).toBe(`${current} prod`)
  })

  it('uses the dated route only with an API version', async () => {
    const dated = 'https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview'
    expect(await sent({ resource: 'r', apiVersion: '2025-04-01-preview' })).toBe(`${dated} prod`)
    const baseUrl = 'https://r.openai.azure.com/openai/deployments/dep?api-version=2024-10-21'
    expect(await sent({ baseUrl, apiVersion: '2025-04-01-preview' })).toBe(`${dated} dep`)
    expect(await sent({ resource: 'r', apiVersion: 'preview' })).toBe(`${current}?api-version=preview prod`)
  })

  it('rejects an invalid base URL without repeating it', () => {
    const make = () => azure('prod', { baseUrl: `r.openai.azure.com?key=${canary}` })
    expect(make).toThrow(expect.objectContaining({ code: 'invalidOption', message: expect.stringContaining('https://') }))
    expect(make).toThrow(expect.objectContaining({ message: expect.not.stringContaining(canary) }))
  })

  it('requires a resource or a base URL', () => {
    expect(() => azure('prod', {})).toThrow(ConfigError)
  })
})

describe('authentication', () => {
  const token = 'eyJhbGciOiJub25lIn0.eyJhdWQiOiJ4In0.c2ln'
  it.each<[string, Partial<AzureOptions>, string, Record<string, string>]>([
    ['the resource key', {}, canary, { 'api-key': canary }],
    ['an Entra ID token, detected by its format', {}, token, { authorization: `Bearer ${token}` }],
    ['a token, as configured', { auth: 'entra' }, canary, { authorization: `Bearer ${canary}` }],
    ['a key, as configured', { auth: 'apiKey' }, token, { 'api-key': token }],
  ])('sends %s', async (_who, options, credential, expected) => {
    const made = await encoded({ resource: 'r', ...options }, credential)
    expect(made.headers).toEqual({ 'content-type': 'application/json', ...expected })
    expect(JSON.stringify(made.redactedHeaders)).not.toContain(credential)
  })
})

describe('the underlying model of a deployment', () => {
  it('encodes the request for the underlying model', async () => {
    expect(await bodyFor(azure('prod', { resource: 'r' }))).toMatchObject({ model: 'prod', reasoning: { effort: 'low' } })
    const plain = await bodyFor(azure('prod', { resource: 'r', underlyingModel: 'gpt-4o' }), { temperature: 0.5 })
    expect(plain).toMatchObject({ model: 'prod', temperature: 0.5 })
    expect(plain).not.toHaveProperty('reasoning')
    expect(await bodyFor(azure('gpt-4o', { resource: 'r' }))).not.toHaveProperty('reasoning')
    const effort = await bodyFor(azure('prod', { resource: 'r', underlyingModel: 'gpt-5.1' }))
    expect(effort.reasoning).toEqual({ effort: 'none' })
  })

  it('includes the underlying model in the configuration, but no key', async () => {
    const { config, provider } = azure('prod', {
      resource: 'r',
      apiKey: canary,
      underlyingModel: 'gpt-5.1',
      capabilities: { efforts: ['low'] },
    })
    expect(config).toMatchObject({
      id: 'prod',
      api: 'azureOpenAiResponses',
      provider: 'azure_openai',
      baseUrl: 'https://r.openai.azure.com',
      capabilities: {
        thinking: 'adaptive',
        efforts: ['low'],
        mediaInToolResults: expect.arrayContaining(['image/png', 'application/pdf']),
      },
    })
    expect(JSON.stringify({ config, provider })).not.toContain(canary)
    const restored = { config: JSON.parse(JSON.stringify(config)), provider: azureProvider() }
    expect(await bodyFor(restored, { thinking: 'high' })).toMatchObject({ reasoning: { effort: 'low' } })
  })

  it('sends reasoning back to the deployment', async () => {
    const model = azure('prod', { resource: 'r', fetch: answering([fixture('openai-responses/empty-arguments.sse')]) })
    const { message } = await called(model)
    if (message === undefined) throw new Error('no answer')
    const input = await inputFor([user('a'), message, result('call_1')], model)
    expect(input.map((item) => item.type ?? item.role)).toEqual(['user', 'reasoning', 'function_call', 'function_call_output'])
  })
})

describe('an HTTP error', () => {
  const refused = async (status: number, body: string, baseUrl = 'https://r.openai.azure.com') => {
    const model = azure('prod', { baseUrl, fetch: async () => new Response(body, { status }) })
    const { error } = await called(model)
    if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${inspect(error)}`)
    return error
  }

  it.each([
    ['DeploymentNotFound', 'The API deployment for this resource does not exist.'],
    ['404', 'Resource not found'],
  ])('explains 404 %s', async (code, message) => {
    const body = JSON.stringify({ error: { code, message } })
    const error = await refused(404, body, 'https://r.openai.azure.com/openai/deployments/dep')
    expect(error).toMatchObject({ code: 'api', status: 404, isRetryable: false })
    expect(error.message).toContain(message)
    expect(error.message).toMatch(/no deployment named "dep".*\/openai\/v1\/responses.*baseUrl/)
    expect(inspect(error)).not.toContain(canary)
  })

  it('classifies other errors like OpenAI', async () => {
    expect(await refused(401, JSON.stringify({ error: { code: '401', message: 'Access denied' } }))).toMatchObject({ code: 'auth' })
    const throttled = JSON.stringify({ error: { code: 'RateLimitReached', message: 'Your requests have exceeded the rate limit.' } })
    expect(await refused(429, throttled)).toMatchObject({ code: 'rateLimited', isRetryable: true })
  })

  it('rejects a redirect without forwarding the key', async () => {
    const redirects: (string | undefined)[] = []
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      redirects.push(init?.redirect)
      return new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } })
    }
    expect((await called(azure('prod', { resource: 'r', fetch }))).error).toMatchObject({ code: 'api', status: 302 })
    expect(redirects).toEqual(['manual'])
  })
})
