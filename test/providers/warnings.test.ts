import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Agent, type Model } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { faultFetch } from '../../testing/index.ts'

const answer = (file: string) => {
  const body = readFileSync(`test/fixtures/${file}`)
  return faultFetch({ body, headers: { 'content-type': 'text/event-stream' } })
}

describe('encoder warnings', () => {
  it.each<[string, Model]>([
    ['anthropic', anthropic('claude-new', { apiKey: 'k', fetch: answer('anthropic/text.sse') })],
    ['openai', openai('gpt-new', { apiKey: 'k', fetch: answer('openai/text.sse') })],
    ['openai-responses', openaiResponses('gpt-new', { apiKey: 'k', fetch: answer('openai-responses/text.sse') })],
  ])('logs one warning for an unsupported temperature: %s', async (_, model) => {
    const warnings: string[] = []
    const logger = { warn: (event: string, fields: object) => warnings.push(`${event} ${JSON.stringify(fields)}`) }
    const { status } = await new Agent({ model, temperature: 0.5, logger }).prompt('hi').result
    expect(status).toBe('completed')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/^requestAdjusted .*temperature/)
  })
})
