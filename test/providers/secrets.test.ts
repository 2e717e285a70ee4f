import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { classifyError } from '../../src/providers/shared/errors/classify.ts'
import { ConfigError } from '../../src/types/errors.ts'
import { userMessage } from '../../src/types/message.ts'
import type { Model } from '../../src/types/model.ts'

async function failure({ config, provider }: Model, credential?: string): Promise<string> {
  const request = {
    model: config,
    systemPrompt: '',
    messages: [userMessage('Hi')],
    tools: [],
    thinkingLevel: 'off' as const,
    cache: { type: 'auto' as const },
    ...(credential === undefined ? {} : { credential }),
  }
  const error: unknown = await provider.stream(request, () => undefined, new AbortController().signal).catch((thrown) => thrown)
  return error instanceof Error ? error.message : 'no error'
}

/** Some engines quote the whole address. */
const quoting: typeof fetch = (input) => Promise.reject(new TypeError(`error sending request for url (${input})`))

describe('an address in an error', () => {
  it('is without the key of its query, also as the URL spells it', async () => {
    const key = 'AQ.canary+key/with=signs'
    const message = await failure(google('gemini-3.5-flash', { keyInQuery: true, fetch: quoting }), key)
    expect(message).toContain('error sending request')
    expect(message).not.toContain('canary')
  })

  it('is without a query of baseUrl', async () => {
    const model = anthropic('claude-test', { baseUrl: 'https://proxy.example/v1?subscription=canary-0123456789', fetch: quoting })
    const message = await failure(model)
    expect(message).toContain('https://proxy.example/v1/messages')
    expect(message).not.toContain('canary')
  })

  it('that is no URL is without a query too', async () => {
    const message = await failure(anthropic('claude-test', { baseUrl: 'proxy.example/v1?subscription=canary-0123456789' }))
    expect(message).toContain('"proxy.example/v1"')
    expect(message).not.toContain('canary')
  })
})

it('a key that is cut off where a quotation ends is taken out as well', () => {
  const credential = 'canary-'.repeat(10)
  const body = `${' '.repeat(1960)}${credential}`
  expect(classifyError({ service: 'X', status: 500, body, credential }).message).not.toContain('canary')
})

describe('a key goes to no other host', () => {
  it.each(['evil.example/', 'us-east-1.evil.example#', ''])('by the region %j', (region) => {
    expect(() => bedrock('x.y', { region })).toThrow(ConfigError)
  })

  it('by an ARN', () => {
    const { baseUrl } = bedrock('arn:aws:bedrock:evil.example/#:1:inference-profile/x').config
    expect(new URL(baseUrl).host).toBe('bedrock-runtime.us-east-1.amazonaws.com')
  })

  it.each(['evil.example/', 'a@evil.example#', ''])('by the resource %j', (resource) => {
    expect(() => azure('d', { resource })).toThrow(ConfigError)
  })
})
