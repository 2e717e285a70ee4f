import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import type { Message } from '../../../src/contract/message/message.ts'
import type { ToolDefinition } from '../../../src/contract/model/request.ts'
import type { ResponseFormat, ThinkingLevel } from '../../../src/contract/model/request-settings.ts'
import { type GoogleOptions, google } from '../../../src/providers/google/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answering, fixture, utf8 } from '../bytes.ts'
import { answer, bodyFor, call, canary, contentsOf, modern, old, request, result, signed, streamed, user } from './call.ts'

const tool: ToolDefinition = {
  name: 'read',
  description: 'Reads.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
}
const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
const text = (value: string): Content => ({ type: 'text', text: value })
const inlineData = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
const skip = 'skip_thought_signature_validator'

describe('the request URL and key', () => {
  const encoded = (options: GoogleOptions = {}, id = 'gemini-test') => google(id, options).provider.encode(request(id, {}, options))
  const path = 'models/gemini-test:streamGenerateContent?alt=sse'

  it.each([
    [undefined, `https://generativelanguage.googleapis.com/v1beta/${path}`],
    ['https://proxy.example/', `https://proxy.example/v1beta/${path}`],
    ['https://proxy.example/gemini', `https://proxy.example/gemini/v1beta/${path}`],
    ['https://proxy.example/v1beta', `https://proxy.example/v1beta/${path}`],
    ['https://proxy.example/v1/', `https://proxy.example/v1/${path}`],
    ['https://proxy.example/v1alpha/models', `https://proxy.example/v1alpha/${path}`],
    ['https://proxy.example/models/', `https://proxy.example/${path}`],
    ['https://proxy.example/a?tenant=1', `https://proxy.example/a/v1beta/models/gemini-test:streamGenerateContent?tenant=1&alt=sse`],
  ])('derives the URL from baseUrl %s', async (baseUrl, url) => {
    expect((await encoded(baseUrl === undefined ? {} : { baseUrl })).url).toBe(url)
  })

  it.each([
    ['models/gemini-test', 'models/gemini-test:'],
    ['a?b', 'models/a%3Fb:'],
  ])('builds the URL of model id %s', async (id, part) => {
    expect((await encoded({}, id)).url).toContain(part)
  })

  it('rejects an invalid base URL', () => {
    expect(() => encoded({ baseUrl: 'proxy' })).toThrow(
      expect.objectContaining({ code: 'invalidOption', message: expect.stringContaining('proxy') }),
    )
  })

  it('sends the key as a header, or in the query if configured', async () => {
    const byHeader = await encoded()
    expect(byHeader.headers['x-goog-api-key']).toBe(canary)
    expect(byHeader.redactedHeaders['x-goog-api-key']).toBe('[redacted]')
    expect(byHeader.url + byHeader.body).not.toContain(canary)
    const byQuery = await encoded({ keyInQuery: true })
    expect(byQuery.url).toContain(`alt=sse&key=${canary}`)
    expect(byQuery.headers).not.toHaveProperty('x-goog-api-key')
    const made = request('gemini-test')
    delete made.credential
    expect((await google('gemini-test').provider.encode(made)).headers).toEqual({ 'content-type': 'application/json' })
  })
})

describe('the Gemini request', () => {
  it('contains instructions, tools with JSON Schema and generation settings', async () => {
    const body = await bodyFor(request(modern, { tools: [tool], temperature: 0.5, maxTokens: 100 }))
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'read', description: 'Reads.', parametersJsonSchema: tool.parameters }] }],
      generationConfig: { maxOutputTokens: 100, temperature: 0.5, thinkingConfig: { thinkingLevel: 'MINIMAL' } },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    })
  })

  it('omits absent instructions and tools', async () => {
    const body = await bodyFor(request(modern, { systemPrompt: ' ' }))
    expect(body).not.toHaveProperty('systemInstruction')
    expect(body).not.toHaveProperty('tools')
  })

  it('prepends instructions to the first user content for Gemma', async () => {
    const body = await bodyFor(request('gemma-3-27b-it', { messages: [user('Hi'), answer([text('Hello')]), user('More')] }))
    expect(body).not.toHaveProperty('systemInstruction')
    expect(body.contents[0]).toEqual({ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hi' }] })
  })

  it('encodes the same history to the same bytes, and each message only once', async () => {
    const { provider } = google(modern)
    let reads = 0
    const counted = {
      ...user('x'),
      get content() {
        reads++
        return [text('x')]
      },
    }
    const made = request(modern, { messages: [counted, answer([text('y')]), user('z')] })
    const { body } = await provider.encode(made)
    const before = reads
    expect((await provider.encode(made)).body).toBe(body)
    expect(reads).toBe(before)
  })

  it('fails with a call error if a tool schema is not serializable', async () => {
    const loop: Record<string, unknown> = {}
    loop.properties = { self: loop }
    const made = request(modern, { tools: [{ ...tool, parameters: loop }] })
    await expect(google(modern).provider.encode(made)).rejects.toMatchObject({ code: 'other', message: expect.stringContaining(modern) })
  })
})

describe('thinking', () => {
  const thinkingOf = async (id: string, thinking: ThinkingLevel, changes: Partial<StreamRequest> = {}) =>
    (await bodyFor(request(id, { thinking, ...changes }))).generationConfig.thinkingConfig
  const includeThoughts = true

  it.each([
    ['gemini-2.0-flash', 'high', undefined],
    ['gemini-2.0-flash', 'off', undefined],
    ['gemini-2.5-pro', 'off', { thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'minimal', { includeThoughts, thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'high', { includeThoughts, thinkingBudget: 8192 }],
    ['gemini-2.5-flash', 'off', { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'low', { includeThoughts, thinkingBudget: 512 }],
    ['gemini-2.5-flash-preview-09-2025', 'medium', { includeThoughts, thinkingBudget: 2048 }],
    ['gemini-2.5-flash-lite', 'minimal', { includeThoughts, thinkingBudget: 512 }],
    ['gemini-2.5-flash-image', 'off', undefined],
    ['gemini-3-pro-preview', 'off', { thinkingLevel: 'LOW' }],
    ['gemini-3-pro-preview', 'medium', { includeThoughts, thinkingLevel: 'HIGH' }],
    ['gemini-3.1-pro-preview', 'minimal', { includeThoughts, thinkingLevel: 'LOW' }],
    ['gemini-3.1-pro-preview', 'medium', { includeThoughts, thinkingLevel: 'MEDIUM' }],
    ['gemini-3-flash-preview', 'off', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3.6-flash', 'minimal', { includeThoughts, thinkingLevel: 'MINIMAL' }],
    ['gemini-3.7-flash', 'minimal', { includeThoughts, thinkingLevel: 'LOW' }],
    ['gemini-3-pro-image-preview', 'off', undefined],
    ['gemini-4-pro', 'off', { thinkingLevel: 'LOW' }],
    ['gemini-unheard-of-9', 'high', { includeThoughts, thinkingLevel: 'HIGH' }],
    ['gemma-3-27b-it', 'off', undefined],
  ] as const)('maps thinking for %s at %s', async (id, level, expected) => {
    expect(await thinkingOf(id, level)).toEqual(expected)
  })

  it('sends either a budget or a level', async () => {
    for (const id of ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-3.1-pro-preview', 'gemini-9']) {
      for (const level of ['off', 'minimal', 'low', 'medium', 'high'] as const) {
        expect(Object.keys((await thinkingOf(id, level)) ?? {}).filter((key) => key !== 'includeThoughts')).toHaveLength(1)
      }
    }
  })

  it('reserves output tokens in addition to the budget and warns', async () => {
    const made = request('gemini-2.5-pro', { thinking: 'high', maxTokens: 8192 })
    expect((await bodyFor(made)).generationConfig.maxOutputTokens).toBe(8192 + 4096)
    expect((await google('gemini-2.5-pro').provider.encode(made)).warnings.join()).toContain('8192')
    expect((await bodyFor({ ...made, maxTokens: 9000 })).generationConfig.maxOutputTokens).toBe(9000)
  })

  it('prefers the configuration over the table and warns about omitted settings', async () => {
    const level = request('my-tuned', { thinking: 'low' }, { capabilities: { thinking: 'budget', sampling: false } })
    const { body, warnings } = await google('my-tuned').provider.encode({ ...level, temperature: 1 })
    expect(JSON.parse(body).generationConfig).toEqual({ thinkingConfig: { includeThoughts, thinkingBudget: 512 } })
    expect(warnings.join()).toContain('temperature')
    const silent = request(modern, { thinking: 'low' }, { reasoning: false })
    expect((await bodyFor(silent)).generationConfig).not.toHaveProperty('thinkingConfig')
    expect((await google(modern).provider.encode(silent)).warnings.join()).toContain('does not think')
  })
})

describe('structured output', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const jsonSchema: ResponseFormat = { type: 'jsonSchema', name: 'place', schema }
  const jsonObject: ResponseFormat = { type: 'jsonObject' }
  const body = (id: string, responseFormat: ResponseFormat, tools: ToolDefinition[] = []) => bodyFor(request(id, { responseFormat, tools }))

  it.each([
    [modern, [tool]],
    [modern, []],
    [old, []],
  ])('uses native structured output: %s', async (id, tools) => {
    const made = await body(id, jsonSchema, tools)
    expect(made.generationConfig).toMatchObject({ responseMimeType: 'application/json', responseJsonSchema: schema })
    expect(made).not.toHaveProperty('toolConfig')
    const any = (await body(id, jsonObject, tools)).generationConfig
    expect(any.responseMimeType).toBe('application/json')
    expect(any).not.toHaveProperty('responseJsonSchema')
    expect((await body(id, { type: 'text' }, tools)).generationConfig).not.toHaveProperty('responseMimeType')
  })

  it('forces an answer tool if native output is missing or excludes tools', async () => {
    const made = await body(old, jsonSchema, [tool])
    expect(made.generationConfig).not.toHaveProperty('responseMimeType')
    expect(made.tools).toMatchObject([{ functionDeclarations: [{ name: 'read' }, { name: 'respond_json', parametersJsonSchema: schema }] }])
    expect(made.toolConfig).toEqual({ functionCallingConfig: { mode: 'ANY' } })
    const gemma = await body('gemma-3-27b-it', jsonSchema)
    expect(gemma.toolConfig).toEqual({ functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['respond_json'] } })
  })

  it('returns the arguments of the answer tool as text', async () => {
    const chunk = {
      candidates: [
        {
          content: { parts: [{ functionCall: { name: 'respond_json', args: { city: 'Bern' } }, thoughtSignature: 's' }] },
          finishReason: 'STOP',
        },
      ],
    }
    const made = request(old, { responseFormat: jsonSchema, tools: [tool] })
    const { message } = await streamed(answering([utf8(`data: ${JSON.stringify(chunk)}\n\n`)]), made)
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: '{"city":"Bern"}' }] })
    expect(message?.content[0]).not.toHaveProperty('providerState')
  })
})

describe('contents', () => {
  const parallel: Message[] = [user('Go'), answer([call('c1', { path: 'a' }), call('c2')]), result('c1'), result('c2', [text('no')], true)]

  it('merges parallel results and the next user text into one content', async () => {
    expect((await contentsOf(modern, [...parallel, user('Well?')])).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'c1', name: 'read', args: { path: 'a' } }, thoughtSignature: skip },
          { functionCall: { id: 'c2', name: 'read', args: {} }, thoughtSignature: skip },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'read', response: { output: 'ok' } } },
          { functionResponse: { id: 'c2', name: 'read', response: { error: 'no' } } },
          { text: 'Well?' },
        ],
      },
    ])
  })

  it('omits ids and signatures before Gemini 3', async () => {
    const sent = JSON.stringify(await contentsOf(old, parallel))
    expect(sent).not.toContain('"id"')
    expect(sent).not.toContain('thoughtSignature')
  })

  it.each(['claude-sonnet-5', 'gpt-oss-120b'])('generates ids but no signature for %s on Vertex', async (id) => {
    const gateway = { baseUrl: 'https://gateway.example' }
    const [, model, results] = await contentsOf(id, [user('Go'), answer([call('fc:1')]), result('fc:1')], gateway)
    expect(model?.parts).toEqual([{ functionCall: { id: expect.stringMatching(/^fc_1_\w+$/), name: 'read', args: {} } }])
    const [made] = JSON.stringify(model).match(/fc_1_\w+/) ?? []
    expect(results?.parts).toMatchObject([{ functionResponse: { id: made } }])
  })

  it('sends provider-issued ids back unchanged', async () => {
    const id = 'function-call/9:a.b=='
    expect(JSON.stringify(await contentsOf(modern, [user('Go'), answer([call(id)]), result(id)])).split(`"${id}"`)).toHaveLength(3)
  })

  it("adds the call's name to its result", async () => {
    const renamed = { ...result('c1'), toolName: 'other' }
    const [, model, results] = await contentsOf(old, [user('Go'), answer([{ ...call('c1'), name: '9 lives' }]), renamed])
    expect(model?.parts).toMatchObject([{ functionCall: { name: '_9_lives' } }])
    expect(results?.parts).toMatchObject([{ functionResponse: { name: '_9_lives' } }])
  })

  it('nests result images from Gemini 3 on, and appends them before', async () => {
    const messages = [user('Go'), answer([call('c1'), call('c2')]), result('c1', [image]), result('c2', [text('see'), image])]
    expect((await contentsOf(modern, messages))[2]?.parts).toEqual([
      { functionResponse: { id: 'c1', name: 'read', response: { output: '(see attached image)' }, parts: [inlineData] } },
      { functionResponse: { id: 'c2', name: 'read', response: { output: 'see' }, parts: [inlineData] } },
    ])
    expect((await contentsOf(old, [...messages, user('Well?')]))[2]?.parts).toEqual([
      { functionResponse: { name: 'read', response: { output: '(see attached image)' } } },
      { functionResponse: { name: 'read', response: { output: 'see' } } },
      inlineData,
      inlineData,
      { text: 'Well?' },
    ])
  })

  it('merges consecutive contents of the same role', async () => {
    const contents = await contentsOf(modern, [user('a'), user('b'), answer([text('c')]), answer([text('d')]), user('e')])
    expect(contents.map(({ role, parts }) => [role, parts.length])).toEqual([
      ['user', 2],
      ['model', 2],
      ['user', 1],
    ])
  })

  it('sends user images as inline data', async () => {
    const [first] = await contentsOf(modern, [{ role: 'user', content: [text('see'), image], timestamp: 1 }])
    expect(first?.parts).toEqual([{ text: 'see' }, inlineData])
  })
})

describe('signatures', () => {
  /** One real answer, as it comes back from storage. */
  const answered = async (name: string): Promise<Message> =>
    JSON.parse(JSON.stringify((await streamed(answering([fixture(`google/${name}.sse`)]))).message))

  it('sends each signature back on its own part, without merging parts', async () => {
    const [, model] = await contentsOf(modern, [user('Hi'), await answered('thinking'), user('More')])
    expect(model?.parts).toEqual([
      { text: 'Let me see.', thought: true },
      { text: 'Do' },
      { text: 'ne.', thoughtSignature: 'c2lnbmVkIHRleHQ=' },
      { text: '', thoughtSignature: 'dHJhaWxpbmc=' },
    ])
  })

  it('sends thought signatures back', async () => {
    const [, model] = await contentsOf(modern, [user('Hi'), await answered('signed-thought'), user('More')])
    expect(model?.parts[0]).toEqual({ text: 'Hm.', thought: true, thoughtSignature: 'dGhvdWdodA==' })
  })

  it('signs only the first of parallel calls', async () => {
    const messages = [user('Hi'), await answered('parallel-tools'), result('fc-1'), result('fc-2'), result('fc-3')]
    const [, model] = await contentsOf(modern, messages)
    expect(model?.parts.map((part) => part.thoughtSignature)).toEqual([undefined, 'Zmlyc3Q=', undefined, undefined])
  })

  it('sends no signature to another model, protocol or provider', async () => {
    const messages = [user('Hi'), await answered('thinking'), await answered('parallel-tools'), user('More')]
    expect(JSON.stringify(await contentsOf('gemini-3.6-flash', messages))).not.toMatch(/c2lnbmVk|dHJhaWxpbmc|Zmlyc3Q|Let me see/)
    expect(JSON.stringify(await contentsOf('gemini-3.6-flash', messages))).toContain(skip)
    const elsewhere = request(modern, { messages }, { provider: 'gateway' })
    expect(JSON.stringify(await bodyFor(elsewhere))).not.toMatch(/c2lnbmVk|dHJhaWxpbmc|Zmlyc3Q|Let me see/)
  })

  it('adds a placeholder signature to a foreign call', async () => {
    const half = [signed(call('c1'), 'c2ln'), call('c2')]
    const [, model] = await contentsOf(modern, [user('Hi'), answer(half), result('c1'), result('c2')])
    expect(model?.parts.map((part) => part.thoughtSignature)).toEqual(['c2ln', undefined])
    const foreign = answer([signed(call('c1'), 'c2ln', 'gemini-3-pro-preview')], { model: 'gemini-3-pro-preview' })
    const [, other] = await contentsOf(modern, [user('Hi'), foreign, result('c1')])
    expect(other?.parts.map((part) => part.thoughtSignature)).toEqual([skip])
  })
})
