import { describe, expect, it } from 'vitest'
import { type AssistantMessage, userMessage } from '../../../src/contract/message/message.ts'
import { type VertexOptions, vertex, vertexProvider } from '../../../src/providers/vertex/index.ts'
import type { Model } from '../../../src/types/model/model.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answering, fixture } from '../bytes.ts'
import { plainRequest } from '../model-call.ts'

const canary = 'ya29.canary-0123456789'

const requestFor = ({ config }: Model, changes: Partial<StreamRequest> = {}) => plainRequest(config, { credential: canary, ...changes })
const encoded = (options: VertexOptions, id = 'gemini-test') => {
  const model = vertex(id, options)
  return model.provider.encode(requestFor(model))
}
const signal = new AbortController().signal

describe('the request URL', () => {
  const method = 'gemini-test:streamGenerateContent?alt=sse'

  it.each([
    ['global', 'https://aiplatform.googleapis.com'],
    [undefined, 'https://aiplatform.googleapis.com'],
    ['us', 'https://aiplatform.us.rep.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
    ['us-central1', 'https://us-central1-aiplatform.googleapis.com'],
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com'],
  ])('builds a URL with the location %s', async (location, host) => {
    const { url } = await encoded(location === undefined ? { project: 'my-p' } : { project: 'my-p', location })
    expect(url).toBe(`${host}/v1/projects/my-p/locations/${location ?? 'global'}/publishers/google/models/${method}`)
  })

  it.each([
    [{}, `https://aiplatform.googleapis.com/v1/publishers/google/models/${method}`],
    [{ location: 'eu' }, `https://aiplatform.googleapis.com/v1/publishers/google/models/${method}`],
    [
      { project: 'p', publisher: 'acme' },
      `https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/acme/models/${method}`,
    ],
    [{ baseUrl: 'https://proxy.example/' }, `https://proxy.example/v1/publishers/google/models/${method}`],
    [{ baseUrl: 'https://proxy.example/v1beta1' }, `https://proxy.example/v1beta1/publishers/google/models/${method}`],
    [
      { baseUrl: 'https://proxy.example/x', project: 'p', location: 'eu' },
      `https://proxy.example/x/v1/projects/p/locations/eu/publishers/google/models/${method}`,
    ],
    [{ baseUrl: 'https://proxy.example/x/models', project: 'p' }, `https://proxy.example/x/models/${method}`],
    [
      { baseUrl: 'https://proxy.example/v1/projects/p/locations/l/endpoints' },
      `https://proxy.example/v1/projects/p/locations/l/endpoints/${method}`,
    ],
  ])('builds the URL for the options %o', async (options, url) => {
    expect((await encoded(options)).url).toBe(url)
  })

  it('rejects an invalid location so that no key reaches another host', () => {
    for (const location of ['', 'evil.example/', 'US', 'a.b']) {
      expect(() => vertex('gemini-test', { project: 'p', location })).toThrow(expect.objectContaining({ code: 'invalidOption' }))
    }
  })

  it('rejects an invalid base URL', () => {
    expect(() => encoded({ baseUrl: 'proxy' })).toThrow(expect.objectContaining({ code: 'invalidOption' }))
  })
})

describe('the API key', () => {
  it.each([
    [{ project: 'p' }, 'authorization', `Bearer ${canary}`],
    [{}, 'x-goog-api-key', canary],
    [{ project: 'p', auth: 'apiKey' }, 'x-goog-api-key', canary],
    [{ auth: 'bearer' }, 'authorization', `Bearer ${canary}`],
    [{ project: 'p', baseUrl: 'https://proxy.example/models' }, 'authorization', `Bearer ${canary}`],
    [{ baseUrl: 'https://proxy.example/projects/p/models' }, 'authorization', `Bearer ${canary}`],
  ] as const)('sends the credential of %o', async (options, header, value) => {
    const { headers, redactedHeaders, url, body } = await encoded(options)
    expect(headers).toEqual({ 'content-type': 'application/json', [header]: value })
    expect(JSON.stringify(redactedHeaders) + url + body).not.toContain(canary)
  })

  it('selects the header by base URL in a provider without a model', async () => {
    const model = vertex('gemini-test', { project: 'p' })
    expect((await vertexProvider().encode(requestFor(model))).headers.authorization).toBe(`Bearer ${canary}`)
  })

  it('accepts a refreshing credential source', async () => {
    const tokens = { current: () => canary, invalidate: () => undefined }
    const { config, credentials, provider } = vertex('gemini-test', { project: 'p', apiKey: tokens })
    expect(credentials?.current(new AbortController().signal)).toBe(canary)
    expect(config).toMatchObject({ api: 'googleVertex', provider: 'vertex', contextWindow: 1_000_000, maxTokens: 65_536 })
    expect(provider.api).toBe('googleVertex')
  })
})

describe('a response', () => {
  const answered = async (name: string): Promise<AssistantMessage> => {
    const model = vertex('gemini-3.5-flash', { project: 'p', fetch: answering([fixture(`google/${name}.sse`)]) })
    return await model.provider.stream(requestFor(model), () => undefined, signal)
  }

  it('sends Vertex AI signatures only to Vertex AI', async () => {
    const message = await answered('empty-arguments')
    const [call] = message.content
    const state = { api: 'googleVertex', model: 'gemini-3.5-flash', payload: { thoughtSignature: 'bm93' } }
    expect(call).toMatchObject({ type: 'toolCall', name: 'now', arguments: {}, providerState: state })
    const model = vertex('gemini-3.5-flash', { project: 'p' })
    const { body } = await model.provider.encode(requestFor(model, { messages: [userMessage('Hi'), message] }))
    expect(body).toContain('"thoughtSignature":"bm93"')
    const other = requestFor(model, { messages: [userMessage('Hi'), message] })
    const { body: foreign } = await model.provider.encode({ ...other, model: { ...model.config, api: 'googleGenerativeAi' } })
    expect(foreign).not.toContain('bm93')
  })

  it('names the provider in its messages', async () => {
    await expect(answered('malformed-call')).rejects.toThrow(/Vertex AI aborted the response/)
  })
})
