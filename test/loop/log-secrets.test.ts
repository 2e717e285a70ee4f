import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { Agent, type AgentOptions, type ApiKey, defineTool, type JsonObject } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { fallback } from '../../src/providers/compose/fallback.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { Model } from '../../src/types/model/model.ts'

const key = 'canary-Zq8_0123456789/xyz'
const frames = (...events: unknown[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const start = { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } }
const calling = frames(
  start,
  { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
  { type: 'message_stop' },
)
const done = frames(
  start,
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Done.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
)

/** A service that calls the tool, then answers. */
function service(): typeof fetch {
  let calls = 0
  return async () => new Response(calls++ === 0 ? calling : done, { headers: { 'content-type': 'text/event-stream' } })
}

const keys: Record<string, () => ApiKey> = {
  'a string': () => key,
  'a function': () => () => key,
  'an async function': () => async () => key,
  'a credential provider': () => ({ current: () => key, invalidate: () => undefined }),
  'an async credential provider': () => ({ current: async () => key, invalidate: async () => undefined }),
}
const echo = `refused ${key} as ${btoa(`me:${key}`)} and ${encodeURIComponent(key)}`
const broken = () => {
  throw new Error(echo)
}
const look = (execute: () => string) => defineTool({ name: 'look', description: 'Looks.', parameters: { type: 'object' }, execute })

/** All that a run says: log lines, events and its result. */
async function said(model: Model, execute: () => string, hooks?: AgentOptions['hooks']): Promise<{ logged: string; told: string }> {
  const logged: [string, JsonObject][] = []
  const logger = { warn: (event: string, fields: JsonObject) => void logged.push([event, fields]) }
  const agent = new Agent({ model, tools: [look(execute)], logger, retry: false, ...(hooks && { hooks }) })
  const run = agent.prompt('x')
  const events = []
  for await (const event of run) events.push(event)
  const result = await run.result
  return { logged: JSON.stringify(logged), told: JSON.stringify([events, result.error, result.messages]) }
}

function expectNoKey(text: string): void {
  expect(text).not.toContain('canary')
  expect(text).not.toContain(btoa(`me:${key}`).slice(8, 28))
}

describe.each(Object.entries(keys))('a model key given as %s', (_, apiKey) => {
  it('does not appear in logs or results of a tool that repeats it', async () => {
    const { logged, told } = await said(anthropic('m', { apiKey: apiKey(), fetch: service() }), broken)
    expect(logged).toContain('toolFailed')
    expect(logged).toContain('[redacted]')
    expectNoKey(logged)
    expectNoKey(told)
  })

  it('does not appear in logs or errors of a hook that repeats it', async () => {
    const { logged, told } = await said(anthropic('m', { apiKey: apiKey(), fetch: service() }), () => 'ok', {
      afterToolExecution: broken,
      beforeTurn: ({ turnIndex }) => (turnIndex === 0 ? true : broken()),
    })
    expect(logged).toContain('hookFailed')
    expect(told).toContain('[redacted]')
    expectNoKey(logged)
    expectNoKey(told)
  })

  it('does not appear in logs of a fallback model', async () => {
    const { logged } = await said(fallback([anthropic('m', { apiKey: apiKey(), fetch: service() }), scripted([])]), broken)
    expect(logged).toContain('toolFailed')
    expectNoKey(logged)
  })
})

it('rejects an invalid key from a credential provider on first use', async () => {
  const given: [unknown, string][] = [
    [`"${key}"`, 'quotes'],
    [`${key}\n`, 'whitespace'],
    ['', 'returned no key'],
    [undefined, 'returned no key'],
  ]
  for (const [wrong, why] of given) {
    const forms = [
      () => wrong,
      { current: () => wrong, invalidate: () => undefined },
      { current: async () => wrong, invalidate: () => undefined },
    ]
    for (const apiKey of forms) {
      const asked = vi.fn(service())
      const { error } = await new Agent({ model: anthropic('m', { apiKey: apiKey as ApiKey, fetch: asked }) }).prompt('x').result
      expect(error).toMatchObject({ code: 'invalidOption', message: expect.stringContaining(why) })
      expect(error?.message).toContain(typeof apiKey === 'function' ? 'apiKey()' : 'current()')
      expectNoKey(error?.message ?? '')
      expect(asked).not.toHaveBeenCalled()
    }
  }
})

it('redacts a secret model header in the log of a tool error', async () => {
  const headers = { 'cf-aig-authorization': `Bearer ${key}` }
  const { logged } = await said(anthropic('m', { apiKey: 'another-0123456789', headers, fetch: service() }), broken)
  expect(logged).toContain('toolFailed')
  expectNoKey(logged)
})

describe('redaction of console logs', () => {
  let written: MockInstance<typeof console.warn>
  beforeEach(() => {
    written = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  })
  afterEach(() => written.mockRestore())

  it.each([
    ['a query parameter', 'GET https://api.example.com/x?page=2&api_key=canary failed', 'https://api.example.com/x?page=redacted'],
    ['a password in a URL', 'cannot reach postgres://me:canary@db.example.com/app', 'cannot reach postgres://'],
    ['a bearer token', 'sent Authorization: Bearer canary.0123-456 and got 401', 'and got 401'],
    ['a header as JSON', '{"x-api-key":"canary-0123","accept":"*/*"}', '"accept":"*/*"'],
    ['an assignment', 'PASSWORD=canary-9 SIZE=3', 'SIZE=3'],
    ['a key with a known prefix', 'Incorrect key provided: sk-proj-canary0123456789abcdef.', 'Incorrect key provided: '],
  ])('redacts %s in console logs', async (_, message, rest) => {
    const model = scripted([{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'Done.' }])
    const execute = () => {
      throw new Error(message)
    }
    await new Agent({ model, tools: [look(execute)] }).prompt('x').result
    const lines = written.mock.calls.flat().join('\n')
    expect(lines).toContain(rest)
    expect(lines).not.toContain('canary')
  })

  it('does not redact token counts and URLs in our own warnings', async () => {
    const message = 'The response was truncated after 4096 tokens: 12345678 of https://docs.example.com/limits#tokens, maxTokens: 87654321.'
    const model = scripted([{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'Done.' }])
    const execute = () => {
      throw new Error(message)
    }
    await new Agent({ model, tools: [look(execute)] }).prompt('x').result
    expect(written.mock.calls.flat().join('\n')).toContain('after 4096 tokens: 12345678 of')
    expect(written.mock.calls.flat().join('\n')).toContain('maxTokens: 87654321')
  })
})
