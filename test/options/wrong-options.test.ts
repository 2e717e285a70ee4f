import { describe, expect, it } from 'vitest'
import { connectMcp } from '../../adapters/mcp/index.ts'
import { remoteSession } from '../../src/client.ts'
import { parseConfig } from '../../src/config.ts'
import { Agent, type AgentOptions, memorySessionStore } from '../../src/index.ts'
import { fetchOpenApiTools } from '../../src/openapi.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { openai, openaiCompatible } from '../../src/providers/openai.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { parseMessages } from '../../src/session.ts'

const model = scripted(() => ({ text: 'ok' }))
const agentWith = (options: Partial<AgentOptions>) => () => new Agent({ model, ...options })
const invalid = (...parts: string[]) => expect.objectContaining({ code: 'invalidOption', message: expect.stringMatching(parts.join('.*')) })

describe('invalid option values', () => {
  it.each([5, 2.01, -0.1, Number.NaN, Number.POSITIVE_INFINITY])('rejects temperature %s', (temperature) => {
    expect(agentWith({ temperature })).toThrow(invalid('temperature is', 'it must be a number from 0 to 2'))
  })

  it.each([0, 1, 2])('accepts temperature %s', (temperature) => {
    expect(agentWith({ temperature })).not.toThrow()
  })

  it('accepts false as a timeout, but rejects true', () => {
    const options = { apiKey: 'k', idleTimeoutMs: false } as const
    expect(() => anthropic('m', options)).not.toThrow()
    // What a caller without types may do.
    const wrong = { ...options, idleTimeoutMs: true as unknown as number }
    expect(() => anthropic('m', wrong)).toThrow(invalid('idleTimeoutMs is true', 'or false'))
  })

  it.each(['a b/c', '', '.hidden', 'ä', 'x'.repeat(201)])('rejects sessionId %j', (sessionId) => {
    expect(agentWith({ sessionId })).toThrow(invalid('sessionId is', 'it must be an id of 1 to 200 characters'))
    expect(agentWith({ sessionId, session: memorySessionStore() })).toThrow(invalid('sessionId'))
  })

  it.each(['127.0.0.1:7801', 'localhost:11434/v1', 'api.example.com', '', 'ftp://a.example', 'http://', ' https://a.example'])(
    'rejects baseUrl %j',
    (baseUrl) => {
      for (const make of [openai, anthropic, bedrock]) {
        expect(() => make('m', { apiKey: 'k', baseUrl })).toThrow(invalid('baseUrl', 'is not an absolute URL', 'http://'))
      }
      expect(() => openaiCompatible('m', { baseUrl })).toThrow(invalid('baseUrl'))
    },
  )

  it('omits the query of an invalid baseUrl from the error', () => {
    expect(() => openai('m', { baseUrl: 'api.example.com/v1?key=sk-secret' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sk-secret') }),
    )
  })

  it.each<[string, () => unknown]>([
    ['a password in an MCP server URL', () => connectMcp({ url: 'http://me:sk-secret@a.example/mcp' })],
    ['a key in the query of an MCP server URL', () => connectMcp({ url: 'ftp://a.example/mcp?key=sk-secret' })],
    ['a header with a line break', () => connectMcp({ url: 'http://127.0.0.1:1', headers: { authorization: 'Bearer sk-secret\n' } })],
    ['a password in an OpenAPI document URL', () => fetchOpenApiTools('http://me:sk-secret@127.0.0.1:1/api.json')],
    ['a password in a session URL', () => remoteSession({ url: 'http://a.example', sessionId: 'http://me:sk-secret@a.example' })],
  ])('redacts %s', async (_, make) => {
    const error = await (async () => make())().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: expect.stringMatching(/^(invalidOption|unavailable)$/) })
    expect(JSON.stringify([String(error), error])).not.toContain('sk-secret')
    expect(String(error)).toMatch(/headers|url|address|sessionId/i)
  })

  it.each(['"sk-secret"', "'sk-secret'", 'sk-secret"', ' sk-secret', 'sk-secret\r\n'])(
    'rejects apiKey %j without quoting it',
    async (apiKey) => {
      const around = /["']/.test(apiKey) ? 'quotes' : 'whitespace'
      const refused = invalid(`apiKey has ${around} around it`, '.env')
      expect(() => openai('m', { apiKey })).toThrow(refused)
      expect(() => openai('m', { apiKey })).toThrow(expect.objectContaining({ message: expect.not.stringContaining('sk-secret') }))
      expect(() => bedrock('m', { accessKeyId: 'a', secretAccessKey: apiKey })).toThrow(invalid('secretAccessKey has'))

      const asked = await new Agent({ model: openai('m', { apiKey: async () => apiKey, fetch: noFetch }) }).prompt('hi').result
      expect(asked.error?.message).toContain(`has ${around} around it`)
      expect(asked.error?.message).not.toContain('sk-secret')
    },
  )

  it('rejects image data that begins with "data:"', async () => {
    const image = { type: 'image' as const, data: 'data:image/png;base64,AA==', mimeType: 'image/png' }
    const told = expect.objectContaining({
      code: 'invalidMessage',
      message: expect.stringMatching(/content\[0\]\.data begins with "data:"/),
    })
    expect(() => new Agent({ model }).prompt({ role: 'user', content: [image] })).toThrow(told)
    expect(agentWith({ messages: [{ role: 'user', content: [image] }] })).toThrow(told)
    // What an older version stored stays readable.
    const stored = [{ role: 'user', content: [image], timestamp: 1, id: 'm' }]
    expect(parseMessages(JSON.stringify(stored))[0]).toMatchObject({ content: [image] })
  })

  it('applies the same temperature range to an agent file', async () => {
    await expect(parseConfig('[session]\ntemperature = 2.5', 'toml')).rejects.toThrow(/session\.temperature.*to 2/)
    await expect(parseConfig('[session]\ntemperature = 2', 'toml')).resolves.toBeDefined()
  })
})

const noFetch: typeof fetch = () => Promise.reject(new Error('nothing may be sent'))
