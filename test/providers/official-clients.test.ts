import { createServer } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages'
import { FunctionCallingConfigMode, type GenerateContentParameters, GoogleGenAI, ServiceTier } from '@google/genai'
import OpenAI from 'openai'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Content } from '../../src/contract/message/content.ts'
import type { Message } from '../../src/contract/message/message.ts'
import { anthropic, anthropicTools } from '../../src/providers/anthropic/index.ts'
import { google, googleTools } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses, openaiTools } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { answerBy, authorOf, plainRequest, result } from './model-call.ts'

/**
 * What the clients of the services themselves send for the same call: written in their types, by their code. Compared as JSON values; they differ
 * only in the order of fields.
 */
const sent: { path: string; body: unknown }[] = []
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    sent.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString()) })
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"enough"}}')
  })
})
let origin = ''
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

async function sentBy(call: () => Promise<unknown>): Promise<{ path: string; body: unknown }> {
  sent.length = 0
  await expect(call()).rejects.toThrow('enough')
  expect(sent).toHaveLength(1)
  return sent[0] ?? { path: '', body: undefined }
}

async function ours({ config, provider }: Model, changes: Partial<StreamRequest>): Promise<{ path: string; body: unknown }> {
  const { url, body, warnings } = await provider.encode(plainRequest(config, { cache: { type: 'disabled' }, credential: 'k', ...changes }))
  expect(warnings).toEqual([])
  const { pathname, search } = new URL(url)
  return { path: `${pathname}${search}`, body: JSON.parse(body) }
}

const png = 'iVBORw0KGgo='
const pdf = btoa('%PDF-1.7 x')
const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
const tools = [{ name: 'add', description: 'Adds.', parameters: schema }]

/** A question with media, a call, and a result with a picture. */
function history({ config }: Model): Message[] {
  const asked: Content[] = [
    { type: 'text', text: 'Look.' },
    { type: 'image', mimeType: 'image/png', data: png },
    // The others cite no files that they are sent.
    { type: 'file', mimeType: 'application/pdf', data: pdf, name: 'a.pdf', ...(config.api === 'anthropicMessages' && { citations: true }) },
  ]
  const call: Content = { type: 'toolCall', id: 'c1', name: 'add', arguments: { a: 1 } }
  return [
    { role: 'user', content: asked, timestamp: 1 },
    answerBy(authorOf(config), [{ type: 'text', text: 'I do.' }, call], { stopReason: 'toolUse' }),
    {
      ...result('c1', [
        { type: 'text', text: 'one' },
        { type: 'image', mimeType: 'image/png', data: png },
      ]),
      toolName: 'add',
    },
  ]
}
const addressed = (mimeType: string, url: string): Message[] => [
  {
    role: 'user',
    content: [
      { type: 'file', mimeType, url },
      { type: 'text', text: 'What?' },
    ],
    timestamp: 1,
  },
]
const basics = { maxTokens: 50, systemPrompt: 'Be brief.', tools, toolChoice: 'required' } as const

describe('requests compared with the official clients', () => {
  const ofAnthropic = (params: MessageCreateParamsStreaming) => () =>
    new Anthropic({ apiKey: 'k', baseURL: origin, maxRetries: 0 }).messages.create(params)

  it('sends media, calls, results and settings like the Anthropic client', async () => {
    const model = anthropic('claude-sonnet-4-6')
    const changes = { ...basics, messages: history(model), stopSequences: ['END'], parallelToolCalls: false, user: 'u' }
    const theirs = ofAnthropic({
      model: 'claude-sonnet-4-6',
      stream: true,
      max_tokens: 50,
      thinking: { type: 'disabled' },
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      system: [{ type: 'text', text: 'Be brief.' }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      tools: [
        { name: 'add', description: 'Adds.', input_schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              title: 'a.pdf',
              citations: { enabled: true },
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I do.' },
            { type: 'tool_use', id: 'c1', name: 'add', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c1',
              content: [
                { type: 'text', text: 'one' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
              ],
            },
          ],
        },
      ],
    })
    expect(await ours(model, changes)).toEqual(await sentBy(theirs))
  })

  it('sends URLs and hosted tools like the Anthropic client', async () => {
    const serverTools = [anthropicTools.webSearch({ maxUses: 3, allowedDomains: ['a.example'] }), anthropicTools.webFetch()]
    const model = anthropic('claude-sonnet-4-6', { serverTools })
    const { body } = await ours(model, { maxTokens: 50, messages: addressed('application/pdf', 'https://a.example/a.pdf') })
    const theirs = ofAnthropic({
      model: 'claude-sonnet-4-6',
      stream: true,
      max_tokens: 50,
      thinking: { type: 'disabled' },
      tools: [
        { type: 'web_search_20260318', name: 'web_search', max_uses: 3, allowed_domains: ['a.example'] },
        { type: 'web_fetch_20260318', name: 'web_fetch' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
            { type: 'text', text: 'What?' },
          ],
        },
      ],
    })
    expect(body).toEqual((await sentBy(theirs)).body)
  })

  const ofOpenAi = () => new OpenAI({ apiKey: 'k', baseURL: `${origin}/v1`, maxRetries: 0 })

  it('sends media, calls, results and settings like the OpenAI Chat client', async () => {
    const model = openai('gpt-4.1')
    const settings = {
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ['END'],
      seed: 7,
      parallelToolCalls: false,
      serviceTier: 'flex',
    } as const
    const params: ChatCompletionCreateParamsStreaming = {
      model: 'gpt-4.1',
      stream: true,
      stream_options: { include_usage: true },
      store: false,
      max_completion_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      seed: 7,
      service_tier: 'flex',
      safety_identifier: 'u',
      tool_choice: 'required',
      parallel_tool_calls: false,
      tools: [{ type: 'function', function: { name: 'add', description: 'Adds.', parameters: schema } }],
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
            { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
          ],
        },
        {
          role: 'assistant',
          content: 'I do.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }] },
      ],
    }
    expect(await ours(model, { ...basics, ...settings, user: 'u', messages: history(model) })).toEqual(
      await sentBy(() => ofOpenAi().chat.completions.create(params)),
    )
  })

  it('sends media, calls, results and settings like the OpenAI Responses client', async () => {
    const model = openaiResponses('gpt-5.1')
    const settings = { thinking: 'high', thinkingSummary: 'detailed', verbosity: 'low', cacheTtl: '1h' } as const
    const params: ResponseCreateParamsStreaming = {
      model: 'gpt-5.1',
      stream: true,
      store: false,
      max_output_tokens: 50,
      reasoning: { effort: 'high', summary: 'detailed' },
      text: { verbosity: 'low' },
      prompt_cache_retention: '24h',
      include: ['reasoning.encrypted_content'],
      safety_identifier: 'u',
      tool_choice: 'required',
      parallel_tool_calls: false,
      tools: [{ type: 'function', name: 'add', description: 'Adds.', parameters: schema, strict: false }],
      input: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
          ],
        },
        { role: 'assistant', content: 'I do.' },
        { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [
            { type: 'input_text', text: 'one' },
            { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
          ],
        },
      ],
    }
    expect(await ours(model, { ...basics, ...settings, parallelToolCalls: false, user: 'u', messages: history(model) })).toEqual(
      await sentBy(() => ofOpenAi().responses.create(params)),
    )
  })

  it('sends URLs and hosted tools like the OpenAI Responses client', async () => {
    const serverTools = [openaiTools.webSearch(), openaiTools.fileSearch({ vectorStoreIds: ['vs_1'] }), openaiTools.imageGeneration()]
    const model = openaiResponses('gpt-5.1', { serverTools })
    const { body } = await ours(model, { maxTokens: 50, messages: addressed('application/pdf', 'https://a.example/a.pdf') })
    const params: ResponseCreateParamsStreaming = {
      model: 'gpt-5.1',
      stream: true,
      store: false,
      max_output_tokens: 50,
      reasoning: { effort: 'none' },
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources', 'file_search_call.results'],
      tools: [{ type: 'web_search' }, { type: 'file_search', vector_store_ids: ['vs_1'] }, { type: 'image_generation' }],
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_url: 'https://a.example/a.pdf' },
            { type: 'input_text', text: 'What?' },
          ],
        },
      ],
    }
    expect(body).toEqual((await sentBy(() => ofOpenAi().responses.create(params))).body)
  })

  const ofGemini = (params: GenerateContentParameters) => () =>
    new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: origin } }).models.generateContentStream(params)

  it('sends media, calls, results and settings like the Gemini client', async () => {
    const model = google('gemini-2.5-flash')
    const settings = {
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      stopSequences: ['END'],
      seed: 7,
      serviceTier: 'flex',
      thinkingBudget: 3000,
    } as const
    const theirs = ofGemini({
      model: 'gemini-2.5-flash',
      config: {
        maxOutputTokens: 9000,
        temperature: 0.5,
        topP: 0.9,
        topK: 5,
        stopSequences: ['END'],
        seed: 7,
        thinkingConfig: { thinkingBudget: 3000, includeThoughts: true },
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: [{ functionDeclarations: [{ name: 'add', description: 'Adds.', parametersJsonSchema: schema }] }],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
        serviceTier: ServiceTier.FLEX,
      },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Look.' },
            { inlineData: { mimeType: 'image/png', data: png } },
            { inlineData: { mimeType: 'application/pdf', data: pdf } },
          ],
        },
        { role: 'model', parts: [{ text: 'I do.' }, { functionCall: { name: 'add', args: { a: 1 } } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'add', response: { output: 'one' } } }, { inlineData: { mimeType: 'image/png', data: png } }],
        },
      ],
    })
    expect(await ours(model, { ...basics, ...settings, maxTokens: 9000, messages: history(model) })).toEqual(await sentBy(theirs))
  })

  it('sends uploaded files and hosted tools like the Gemini client', async () => {
    const model = google('gemini-2.5-flash', { serverTools: [googleTools.search(), googleTools.urlContext(), googleTools.codeExecution()] })
    const fileId = 'https://generativelanguage.googleapis.com/v1beta/files/f1'
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'file', mimeType: 'application/pdf', fileId, api: 'googleGenerativeAi' }], timestamp: 1 },
    ]
    const theirs = ofGemini({
      model: 'gemini-2.5-flash',
      config: {
        maxOutputTokens: 50,
        thinkingConfig: { thinkingBudget: 0 },
        tools: [{ googleSearch: {} }, { urlContext: {} }, { codeExecution: {} }],
      },
      contents: [{ role: 'user', parts: [{ fileData: { mimeType: 'application/pdf', fileUri: fileId } }] }],
    })
    expect((await ours(model, { maxTokens: 50, messages })).body).toEqual((await sentBy(theirs)).body)
  })
})
