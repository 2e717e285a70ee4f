import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import type { JsonObject } from '../../../src/contract/json.ts'
import type { Message } from '../../../src/contract/message/message.ts'
import { azure } from '../../../src/providers/azure/index.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { answering, fixture, utf8 } from '../bytes.ts'
import { answer, called, canary, result, streamed, user } from './call.ts'
import type { InputItem } from './grammar.ts'

const text = fixture('openai-responses/text.sse')
const stream = { 'content-type': 'text/event-stream' }

const errorBody = (code: string | null, message: string, type = 'invalid_request_error') =>
  JSON.stringify({ error: { message, type, param: null, code } })

/** A fetch that gives these responses one after the other, and the bodies it was sent. */
function serving(...responses: (() => Response)[]): { fetch: typeof fetch; bodies: { input: InputItem[]; include?: string[] }[] } {
  const bodies: { input: InputItem[]; include?: string[] }[] = []
  const serve: typeof fetch = async (_url, init) => {
    bodies.push(JSON.parse(String(init?.body)))
    const next = responses[bodies.length - 1]
    if (next === undefined) throw new Error('one call too many')
    return next()
  }
  return { fetch: serve, bodies }
}

const refusing =
  (status: number, body: string | null, headers: Record<string, string> = {}): (() => Response) =>
  () =>
    new Response(body, { status, headers })
const streaming = (bytes: Uint8Array) => () => new Response(bytes.slice(), { headers: stream })

async function failure(...responses: (() => Response)[]): Promise<ProviderError> {
  const { error } = await streamed(serving(...responses).fetch)
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${inspect(error)}`)
  return error
}

describe('an HTTP error', () => {
  it.each([
    [401, errorBody('invalid_api_key', `Incorrect API key provided: ${canary}.`), 'auth', false],
    [403, errorBody('unsupported_country_region_territory', 'Country not supported'), 'auth', false],
    [400, JSON.stringify({ code: 'x', error: 'Model not found: grok-9' }), 'api', false],
    [400, errorBody('context_length_exceeded', 'Your input exceeds the context window of this model.'), 'contextOverflow', false],
    [400, errorBody(null, "Item 'rs_1' of type 'reasoning' was provided without its required following item."), 'api', false],
    [404, errorBody('model_not_found', 'The model does not exist'), 'api', false],
    [429, errorBody('rate_limit_exceeded', 'Limit reached', 'requests'), 'rateLimited', true],
    [429, errorBody('insufficient_quota', 'You exceeded your current quota', 'insufficient_quota'), 'rateLimited', false],
    [500, errorBody(null, 'The server had an error', 'server_error'), 'api', true],
    [503, '', 'api', true],
  ])('classifies %i %s', async (status, body, code, isRetryable) => {
    const error = await failure(refusing(status, body))
    expect(error).toMatchObject({ code, isRetryable, status })
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(canary)
  })

  it('classifies an early stream error like an HTTP error, without a partial message', async () => {
    const events = [
      { type: 'response.created', response: { status: 'in_progress' } },
      { type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota' } },
    ]
    const error = await failure(streaming(utf8(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))))
    expect(error).toMatchObject({ code: 'rateLimited', isRetryable: false })
    expect(error.partial).toBeUndefined()
  })

  it('rejects a redirect without following it', async () => {
    expect(await failure(refusing(307, '', { location: 'https://elsewhere.example' }))).toMatchObject({ code: 'api', status: 307 })
  })

  it('treats another 3xx status as an HTTP error', async () => {
    const error = await failure(refusing(304, null))
    expect(error).toMatchObject({ code: 'api', status: 304, isRetryable: false, message: expect.stringContaining('(304)') })
    expect(error.message).not.toMatch(/redirect/i)
  })

  it('names the provider in the error', async () => {
    const { fetch } = serving(refusing(500, ''))
    const grok = openaiResponses('grok-4.3', { fetch, provider: 'xai', baseUrl: 'https://api.x.ai/v1' })
    expect((await called(grok)).error).toMatchObject({ message: expect.stringContaining('xAI') })
  })
})

describe('reasoning that the provider can no longer read', () => {
  const refusal = errorBody('invalid_encrypted_content', 'The encrypted content gAAA could not be verified.')
  const history = async (): Promise<Message[]> => {
    const { message } = await streamed(answering([fixture('openai-responses/empty-arguments.sse')]))
    if (message === undefined) throw new Error('no answer')
    return [user('a'), message, result('call_1')]
  }

  it.each([
    ['with an HTTP error', refusing(400, refusal)],
    ['with a stream error', streaming(utf8(`data: {"type":"response.created"}\n\ndata: {"type":"error",${refusal.slice(1)}\n\n`))],
  ])('retries once without unreadable reasoning: %s', async (_how, refuse) => {
    const served = serving(refuse, streaming(text))
    const { message, events } = await called(openaiResponses('gpt-test', { fetch: served.fetch }), { messages: await history() })
    expect(message).toMatchObject({ stopReason: 'stop' })
    expect(events.filter((event) => event.type === 'start')).toHaveLength(1)
    expect(served.bodies.map(({ input }) => input.map((item) => item.type ?? item.role))).toEqual([
      ['user', 'reasoning', 'function_call', 'function_call_output'],
      ['user', 'function_call', 'function_call_output'],
    ])
    expect(served.bodies[1]?.input[1]).not.toHaveProperty('id')
  })

  it('fails after the second attempt', async () => {
    const served = serving(refusing(400, refusal), refusing(400, refusal))
    const { error } = await called(openaiResponses('gpt-test', { fetch: served.fetch }), { messages: await history() })
    expect(error).toMatchObject({ code: 'api', isRetryable: false })
    expect(served.bodies).toHaveLength(2)
  })

  it('keeps the error if the request had no reasoning', async () => {
    const served = serving(refusing(400, refusal))
    expect((await called(openaiResponses('gpt-test', { fetch: served.fetch }))).error).toMatchObject({ code: 'api' })
    expect(served.bodies).toHaveLength(1)
  })

  it('stops after an abort without a retry', async () => {
    const controller = new AbortController()
    const served = serving(() => {
      controller.abort(new Error('user left'))
      return new Response(refusal, { status: 400 })
    })
    const { error } = await called(openaiResponses('gpt-test', { fetch: served.fetch }), { messages: await history() }, controller.signal)
    expect(error).toMatchObject({ code: 'cancelled' })
    expect(served.bodies).toHaveLength(1)
  })
})

describe("a prompt that Azure's content filter rejects", () => {
  const body = JSON.stringify({
    error: {
      message: 'The response was filtered due to the prompt triggering the content management policy.',
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    },
  })

  it('returns a response with stop reason guardRail and the cause', async () => {
    const model = azure('prod', { resource: 'r', fetch: serving(refusing(400, body)).fetch })
    const { message, events } = await called(model)
    expect(message).toMatchObject({ stopReason: 'guardRail', model: 'prod', provider: 'azure_openai' })
    expect(message?.content).toEqual([{ type: 'text', text: expect.stringContaining('content management policy') }])
    expect(events.map((event) => event.type)).toEqual(['start', 'text'])
    expect(events[0]).toEqual({ type: 'start', message })
  })
})

describe('an expired container', () => {
  const gone = errorBody('invalid_request_error', 'Expected container_id: cntr_1.')
  const state = (payload: JsonObject) => ({ providerState: { api: 'openAiResponses' as const, model: 'gpt-test', payload } })
  const item = { id: 'ci_1', type: 'code_interpreter_call', status: 'completed', code: '1', container_id: 'cntr_1', outputs: null }
  const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'ZW5j' }
  const history = [
    user('a'),
    answer([
      { type: 'thinking', thinking: '', ...state({ item: thought }) },
      { type: 'serviceTool', id: 'ci_1', name: 'code_interpreter', status: 'done', ...state({ items: [item], after: 'rs_1' }) },
      { type: 'image', mimeType: 'image/png', url: 'https://a.example/1.png', ...state({ shownBy: 'ci_1' }) },
      { type: 'text', text: 'One.', ...state({ id: 'msg_1' }) },
    ]),
    user('b'),
  ]

  it('retries once without the container and its reasoning', async () => {
    const served = serving(refusing(400, gone), streaming(text))
    const { message } = await called(openaiResponses('gpt-test', { fetch: served.fetch }), { messages: history })
    expect(message).toMatchObject({ stopReason: 'stop' })
    expect(served.bodies.map(({ input }) => input.map((each) => each.type ?? each.role))).toEqual([
      ['user', 'reasoning', 'code_interpreter_call', 'message', 'user'],
      ['user', 'message', 'user'],
    ])
  })
})
