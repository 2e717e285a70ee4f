import { describe, expect, it } from 'vitest'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { streamProviderSuite } from '../../../testing/index.ts'
import { runs } from '../../support/runs.ts'
import { bytesOf, canaries, credential } from './call.ts'

const contentType = 'application/vnd.amazon.eventstream'
const terminal = 'messageStop'

streamProviderSuite(
  { describe, expect, it },
  {
    name: 'Bedrock keeps every promise of a provider',
    cuts: runs(50, Number.POSITIVE_INFINITY),
    // A bearer key: the suite makes thousands of calls, and signing takes a while. What signing must not leak is tested beside it.
    create: (fetch) => bedrock('us.anthropic.claude-opus-4-6-v1', { apiKey: 'ABSKcanary0123456789', fetch }),
    fixtures: [
      { name: 'text', body: bytesOf('text'), contentType, terminal, expect: { text: 'Grüße 🌍, wörld', stopReason: 'stop' } },
      {
        name: 'thinking',
        body: bytesOf('thinking'),
        contentType,
        terminal,
        expect: { text: 'Done.', thinking: 'Let me see.', stopReason: 'stop' },
      },
      {
        name: 'parallel tools',
        body: bytesOf('parallel-tools'),
        contentType,
        terminal,
        expect: {
          text: 'Both.',
          toolCalls: [
            { id: 'tooluse_1', name: 'read', arguments: { path: 'a.ts' } },
            { id: 'tooluse_2', name: 'list', arguments: { depth: 2 } },
          ],
          stopReason: 'toolUse',
        },
      },
      { name: 'no metadata', body: bytesOf('no-metadata'), contentType, terminal, expect: { text: 'x', stopReason: 'stop' } },
      { name: 'throttled', body: bytesOf('throttled'), contentType, expect: { errorCode: 'rateLimited' } },
    ],
  },
)

describe('the factory', () => {
  const signal = new AbortController().signal

  it('sets documented defaults, without a key in the configuration', () => {
    const { config, provider, credentials } = bedrock('x.y', { apiKey: credential, region: 'eu-west-1' })
    expect(config).toEqual({
      id: 'x.y',
      name: 'x.y',
      api: 'bedrockConverseStream',
      provider: 'bedrock',
      baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
      reasoning: true,
      contextWindow: 200_000,
      maxTokens: 0,
      cost: { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
      headers: {},
    })
    for (const canary of canaries) expect(JSON.stringify({ config, provider, credentials })).not.toContain(canary)
    expect(bedrock('x.y')).not.toHaveProperty('credentials')
  })

  it('accepts AWS credentials as parts, as a string or from a refreshing source', async () => {
    const [accessKeyId, secretAccessKey, sessionToken] = canaries
    expect(await bedrock('x.y', { accessKeyId, secretAccessKey, sessionToken }).credentials?.current(signal)).toBe(credential)
    expect(await bedrock('x.y', { apiKey: credential }).credentials?.current(signal)).toBe(credential)
    const asked: unknown[] = []
    const { credentials } = bedrock('x.y', {
      credentials: async (options) => {
        asked.push(options)
        return { accessKeyId: `id${asked.length}`, secretAccessKey: 's' }
      },
    })
    expect(await credentials?.current(signal)).toBe('id1:s')
    await credentials?.invalidate()
    expect(await credentials?.current(signal)).toBe('id2:s')
    expect(await credentials?.current(signal)).toBe('id3:s')
    expect(asked).toEqual([undefined, { forceRefresh: true }, undefined])
  })

  it('throws if only one of two AWS credentials is set', () => {
    expect(() => bedrock('x.y', { accessKeyId: 'AKIA' })).toThrow(/secretAccessKey must be set together/)
  })
})
