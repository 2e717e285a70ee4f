import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Agent, type Model } from '../../../src/index.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai } from '../../../src/providers/openai.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'

/** Longer than what is copied, and no repetition. */
const data = `JVBERi0xLjcK${Array.from({ length: 40_000 }, (_, n) => (n * 7919).toString(36).padStart(5, '0')).join('')}`
const prompt = [
  {
    role: 'user' as const,
    content: [
      { type: 'text' as const, text: 'Was steht darin? 東京 🙂' },
      { type: 'file' as const, mimeType: 'application/pdf', data, name: 'naïve.pdf' },
      { type: 'file' as const, mimeType: 'application/pdf', data: `${data}AAAA`, name: 'b.pdf' },
    ],
  },
]
const apiKey = 'key'
type Made = { baseUrl: string; fetch?: typeof fetch }
const models: Record<string, (made: Made) => Model> = {
  anthropic: (made) => anthropic('claude-sonnet-4-6', { apiKey, ...made }),
  openai: (made) => openai('gpt-5', { apiKey, ...made }),
  responses: (made) => openaiResponses('gpt-5', { apiKey, ...made }),
  google: (made) => google('gemini-3-pro', { apiKey, ...made }),
  bedrock: (made) => bedrock('anthropic.claude-sonnet-4-6', { apiKey, region: 'eu-central-1', ...made }),
}

const received: { headers: IncomingHttpHeaders; body: string }[] = []
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
  response.writeHead(received.length === 1 ? 500 : 400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
})
let baseUrl = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  baseUrl = `http://127.0.0.1:${port}`
})
afterAll(() => server.close())
beforeEach(() => {
  received.length = 0
})

const retry = { maxRetries: 1, initialDelayMs: 1 }

describe.each(Object.entries(models))('a large request body to %s', (_, modelOf) => {
  it('sends the complete body with a content length, also on a retry', async () => {
    const agent = new Agent({ model: modelOf({ baseUrl }), retry })
    await agent.prompt(prompt).result
    const [first, second] = received
    expect(received).toHaveLength(2)
    expect(second?.body).toBe(first?.body)
    expect(first?.headers['content-length']).toBe(String(Buffer.byteLength(first?.body ?? '')))
    expect(first?.headers['transfer-encoding']).toBeUndefined()
    expect(first?.body.split(data)).toHaveLength(3)
    expect(first?.body).toContain(`${data}AAAA`)
    expect(first?.body).toContain('東京 🙂')
    expect(() => JSON.parse(first?.body ?? '')).not.toThrow()
  })

  it('passes the body as text to a custom fetch and the request capture', async () => {
    const bodies: unknown[] = []
    const given = async (_url: unknown, init?: RequestInit) => {
      bodies.push(init?.body)
      return new Response('{"error":{"message":"no"}}', { status: 400 })
    }
    const agent = new Agent({ model: modelOf({ baseUrl, fetch: given }), retry: false, captureTurnRequests: { httpBody: true } })
    const captured: unknown[] = []
    agent.subscribe((event) => {
      if (event.type === 'turnRequest') captured.push(event.request.http?.body)
    })
    await agent.prompt(prompt).result
    expect(typeof bodies[0]).toBe('string')
    expect(bodies[0]).toContain(`${data}AAAA`)
    expect(captured[0]).toBe(bodies[0])
  })

  it('sends the complete body with added fields', async () => {
    const agent = new Agent({ model: modelOf({ baseUrl }), retry: false, body: { metadata_x: 'ü' } })
    await agent.prompt(prompt).result
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ metadata_x: 'ü' })
    expect(received[0]?.body.split(data)).toHaveLength(3)
  })
})
