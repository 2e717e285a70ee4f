import { getEventListeners, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { patient } from '../support/patience.ts'
import { bytesOf } from './bedrock/call.ts'
import { bodyOf, fixture, utf8 } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

const key = 'key-0123456789'
const sse = 'text/event-stream'
const answers: [name: string, create: (baseUrl: string) => Model, body: Uint8Array, type: string][] = [
  ['Anthropic', (baseUrl) => anthropic('claude-test', { baseUrl }), fixture('anthropic/text.sse'), sse],
  ['OpenAI', (baseUrl) => openai('gpt-test', { baseUrl }), fixture('openai/text.sse'), sse],
  ['OpenAI Responses', (baseUrl) => openaiResponses('gpt-test', { baseUrl }), fixture('openai-responses/text.sse'), sse],
  ['Google', (baseUrl) => google('gemini-test', { baseUrl }), fixture('google/text.sse'), sse],
  ['Bedrock', (baseUrl) => bedrock('x.y', { baseUrl }), bytesOf('text'), 'application/vnd.amazon.eventstream'],
]

describe('connection reuse over HTTP/1.1', () => {
  let connections = 0
  let answer: (response: ServerResponse) => void = () => undefined
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(response))
  })
  server.on('connection', () => {
    connections += 1
  })
  let origin = ''
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    // It listens on a port, so its address is no text.
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it.each(answers)('uses at most 2 connections for 30 calls: %s', async (_name, create, body, type) => {
    connections = 0
    // The end of the body comes after the last event, in a packet of its own.
    answer = (response) => {
      response.writeHead(200, { 'content-type': type })
      response.write(body, () => setImmediate(() => response.end()))
    }
    const model = create(origin)
    for (let n = 0; n < 30; n++) {
      const { error } = await outcomeOf(model.provider, plainRequest(model.config, { credential: key }))
      expect(error).toBeUndefined()
    }
    expect(connections).toBeLessThanOrEqual(2)
  })

  it('reuses connections after an HTTP error', async () => {
    connections = 0
    answer = (response) => response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"later"}}')
    const model = anthropic('claude-test', { baseUrl: origin })
    for (let n = 0; n < 30; n++) await outcomeOf(model.provider, plainRequest(model.config, { credential: key }))
    expect(connections).toBeLessThanOrEqual(2)
  })
})

describe('bytes after the last event', () => {
  const text = fixture('anthropic/text.sse')
  const stream = { 'content-type': sse }

  async function play(body: ReadableStream<Uint8Array>, signal: AbortSignal) {
    const { config, provider } = anthropic('claude-test', { fetch: async () => new Response(body, { headers: stream }) })
    return await outcomeOf(provider, plainRequest(config, { credential: key }), signal)
  }

  it('limits how many trailing bytes it reads', async () => {
    const controller = new AbortController()
    let pulls = 0
    const endless = function* () {
      yield text
      for (;;) {
        pulls++
        yield utf8(`:${' '.repeat(10_000)}\n`)
      }
    }
    const body = bodyOf(endless())
    const { message } = await play(body.stream, controller.signal)
    expect(message?.stopReason).toBe('stop')
    await vi.waitUntil(() => body.isCancelled(), patient)
    expect(pulls).toBeLessThan(15)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  it('returns the message immediately and cancels the body on abort', async () => {
    const controller = new AbortController()
    const body = bodyOf([text], 'hang')
    const { message } = await play(body.stream, controller.signal)
    expect(message?.stopReason).toBe('stop')
    expect(body.isCancelled()).toBe(false)
    controller.abort()
    expect(body.isCancelled()).toBe(true)
    await vi.waitUntil(() => getEventListeners(controller.signal, 'abort').length === 0, patient)
  })
})
