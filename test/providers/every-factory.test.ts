import { describe, expect, it } from 'vitest'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { faultFetch } from '../../testing/index.ts'
import { models, type Wire, wires } from '../harness/fixture-model.ts'
import { awsFrame } from '../harness/server/bedrock.ts'
import { sse } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

const apiKey = 'canary-5b1f83c2'
const baseUrl = 'https://proxy.test/llm'
const overflow = 'prompt is too long: 213462 tokens > 200000 maximum'

/** One call of a factory's model on `script`. */
async function call(wire: Wire, script: Parameters<typeof faultFetch>[0], changes: Partial<StreamRequest> = {}) {
  const fetch = faultFetch(script)
  const { config, provider } = models[wire](baseUrl, { apiKey, fetch, headers: { 'x-team': 'blue' } })
  const { error } = await outcomeOf(provider, plainRequest(config, { credential: apiKey, ...changes }))
  return { error, sent: fetch.calls[0] }
}

const frame = awsFrame({ ':exception-type': 'validationException', ':message-type': 'exception' }, JSON.stringify({ message: overflow }))
const inStream: Record<Wire, string | Uint8Array> = {
  anthropic: sse({ type: 'error', error: { type: 'invalid_request_error', message: overflow } }),
  openai: sse({ error: { message: overflow, type: 'invalid_request_error' } }),
  'openai-responses': sse({ type: 'error', code: 'context_length_exceeded', message: overflow }),
  azure: sse({ type: 'response.failed', response: { status: 'failed', error: { code: 'context_length_exceeded', message: overflow } } }),
  google: sse({ error: { code: 400, status: 'INVALID_ARGUMENT', message: overflow } }),
  vertex: sse({ error: { code: 400, status: 'INVALID_ARGUMENT', message: overflow } }),
  bedrock: frame,
}

describe.each(wires)('%s', (wire) => {
  it('sends requests to baseUrl through the given fetch with extra headers', async () => {
    const { sent } = await call(wire, { status: 500 })
    expect(sent?.url.startsWith(`${baseUrl}/`)).toBe(true)
    expect(sent?.headers.get('x-team')).toBe('blue')
  })

  it('requests structured output', async () => {
    const schema = { type: 'object', properties: { canaryCity: { type: 'string' } }, required: ['canaryCity'], additionalProperties: false }
    const responseFormat = { type: 'jsonSchema', name: 'place', schema } as const
    const { sent } = await call(wire, { status: 500 }, { responseFormat })
    expect(sent?.body).toContain('canaryCity')
  })

  it('explains the likely cause and a fix if CORS blocks a browser call', async () => {
    const { error } = await call(wire, { networkError: 'Failed to fetch' })
    expect(error).toMatchObject({ code: 'network', isRetryable: true })
    expect(String(error)).toMatch(/other origins: set baseUrl to a proxy/)
  })

  it('reports context overflow from an HTTP error and from the stream', async () => {
    const body = JSON.stringify({ message: overflow, error: { message: overflow } })
    const refused = await call(wire, { status: 400, body, headers: { 'content-type': 'application/json' } })
    expect(refused.error).toMatchObject({ code: 'contextOverflow', isRetryable: false })
    const contentType = wire === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
    const streamed = await call(wire, { body: inStream[wire], headers: { 'content-type': contentType } })
    expect(streamed.error).toMatchObject({ code: 'contextOverflow', isRetryable: false })
  })
})
