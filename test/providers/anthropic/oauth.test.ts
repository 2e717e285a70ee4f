import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import { type AnthropicOptions, anthropic } from '../../../src/providers/anthropic/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { bodyFor, request } from './call.ts'

const token = 'sk-ant-oat01-canary-0123456789'

const encoded = (options: AnthropicOptions, changes: Partial<StreamRequest> = {}) =>
  anthropic('claude-test', options).provider.encode(request('claude-test', { credential: token, ...changes }, options))

async function rejection(options: AnthropicOptions): Promise<ProviderError> {
  const send = async () =>
    new Response('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}', { status: 401 })
  const { provider } = anthropic('claude-test', { ...options, fetch: send })
  const made = request('claude-test', { credential: token })
  const error: unknown = await provider.stream(made, () => undefined, new AbortController().signal).catch((thrown: unknown) => thrown)
  if (!ProviderError.isInstance(error)) throw new Error('It was not refused.')
  return error
}

describe('an OAuth token', () => {
  it('requires the oauth option, whatever the key looks like', async () => {
    const { headers } = await encoded({})
    expect(headers['x-api-key']).toBe(token)
    expect(headers).not.toHaveProperty('authorization')
    expect(headers).not.toHaveProperty('anthropic-beta')
  })

  it('sends a bearer token with the required headers', async () => {
    const { headers, redactedHeaders } = await encoded({ oauth: true })
    expect(headers).toMatchObject({
      authorization: `Bearer ${token}`,
      'anthropic-beta': 'claude-code-20250219,oauth-2025-04-20',
      'x-app': 'cli',
      'user-agent': expect.stringMatching(/^claude-cli\/\d/),
    })
    expect(headers).not.toHaveProperty('x-api-key')
    expect(JSON.stringify(redactedHeaders)).not.toContain(token)
  })

  it("accepts another user agent and the caller's betas", async () => {
    const options = { oauth: { userAgent: 'my-cli/1' }, headers: { 'Anthropic-Beta': 'other-2026-01-01' } }
    const { headers } = await encoded(options)
    expect(headers['user-agent']).toBe('my-cli/1')
    expect(headers['anthropic-beta']).toBe('claude-code-20250219,oauth-2025-04-20,other-2026-01-01')
  })

  it('prepends the Claude Code identity, with the breakpoint after the system prompt', async () => {
    const name = { type: 'text', text: "You are Claude Code, Anthropic's official CLI for Claude." }
    const marked = { cache_control: { type: 'ephemeral' } }
    const body = await bodyFor(request('claude-test', {}, { oauth: true }), { oauth: true })
    expect(body.system).toEqual([name, { type: 'text', text: 'Be brief.', ...marked }])
    const bare = await bodyFor(request('claude-test', { systemPrompt: '' }), { oauth: true })
    expect(bare.system).toEqual([{ ...name, ...marked }])
  })

  it('explains a rejected token if the option is missing', async () => {
    const error = await rejection({})
    expect(error).toMatchObject({ code: 'auth', status: 401 })
    expect(error.message).toMatch(/OAuth token, not an API key.*option oauth/)
    expect(error.message).not.toContain(token)
    expect((await rejection({ oauth: true })).message).not.toContain('option oauth')
  })
})
