import { describe, expect, it } from 'vitest'
import { Agent, type AgentMessage, type Model } from '../../src/index.ts'
import { fallback } from '../../src/models.ts'
import { anthropic, anthropicTools } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai, openaiCompatible, openrouter } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { toolSearch } from '../../src/tools.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { tool } from '../support/play.ts'
import { answerBy, plainRequest, sentBody, user } from './model-call.ts'

interface Body {
  tools: Record<string, unknown>[]
  messages: { content: Record<string, unknown>[] }[]
}
const apiKey = 'k'
const parameters = { type: 'object' as const, properties: { id: { type: 'string' } } }
const define = (name: string) => ({ name, description: `Does ${name}.`, parameters })
const [ask, search, first, second] = [define('ask'), define('search_tools'), define('first'), define('second')]
/** As a loop asks: one tool is shown, one search, and one of two was found. */
const asked: Partial<StreamRequest> = { tools: [ask, search, first], searchable: { tools: [first, second], foundBy: ['search_tools'] } }

/** Name, and whether it is deferred, of each tool; the type of what is none of the caller's. */
function namesIn(tools: readonly object[]): string[] {
  return tools.flatMap((each) => {
    const { type, name, toolSpec, functionDeclarations, function: own, defer_loading: isDeferred }: Record<string, unknown> = Object(each)
    if ('cachePoint' in each) return []
    if (Array.isArray(functionDeclarations)) return namesIn(functionDeclarations)
    const called = name ?? Object(own ?? toolSpec).name ?? type
    return [isDeferred === true ? `(${called})` : String(called)]
  })
}

const deployment = { apiKey, baseUrl: 'https://x.openai.azure.com/openai/v1' }
const searching: [string, Model, string[]][] = [
  ['Anthropic', anthropic('claude-sonnet-5', { apiKey }), ['(first)', '(second)', 'tool_search_tool_bm25', 'ask']],
  ['Responses', openaiResponses('gpt-5.4', { apiKey }), ['ask', '(first)', '(second)', 'tool_search']],
  ['Responses with a new model', openaiResponses('gpt-6-sol', { apiKey }), ['ask', '(first)', '(second)', 'tool_search']],
  ['Azure', azure('gpt-5.4-mini', deployment), ['ask', '(first)', '(second)', 'tool_search']],
  ['OpenRouter', openrouter('anthropic/claude-sonnet-5', { apiKey }), ['openrouter:tool_search', 'ask', '(first)', '(second)']],
  [
    'a model with the capability configured',
    azure('our-deployment', { ...deployment, capabilities: { toolSearch: true } }),
    ['ask', '(first)', '(second)', 'tool_search'],
  ],
]
const others: [string, Model][] = [
  ['Anthropic with an old model', anthropic('claude-3-7-sonnet', { apiKey })],
  ['another model with the Anthropic protocol', anthropic('MiniMax-M2', { apiKey, baseUrl: 'https://api.minimax.io/anthropic' })],
  ['Responses with an old model', openaiResponses('gpt-5.2', { apiKey })],
  ['Responses of xAI', openaiResponses('grok-4.3', { apiKey, provider: 'xai', baseUrl: 'https://api.x.ai/v1' })],
  ['Azure with an unknown deployment', azure('our-deployment', deployment)],
  ['Chat Completions', openai('gpt-5.4', { apiKey })],
  ['Groq', openaiCompatible('llama-4', { apiKey, backend: 'groq' })],
  ['Gemini', google('gemini-3-pro', { apiKey })],
  ['Bedrock', bedrock('anthropic.claude-sonnet-4-5', { apiKey, region: 'us-east-1' })],
  ['a model with the capability configured', anthropic('claude-sonnet-5', { apiKey, capabilities: { toolSearch: false } })],
]

describe('tool search', () => {
  it.each(searching)('uses the hosted search: %s', async (_name, { config, provider }, names) => {
    const body = await sentBody<Body>(provider, plainRequest(config, asked))
    expect(namesIn(body.tools)).toEqual(names)
    // Of what it may search nothing is missing.
    expect(JSON.stringify(body.tools).split('Does second.')).toHaveLength(2)
  })

  it.each(others)("uses the SDK's search tool and lists each tool once: %s", async (_name, { config, provider }) => {
    const body = await sentBody<Body & { toolConfig?: { tools: object[] } }>(provider, plainRequest(config, asked))
    expect(namesIn(body.toolConfig?.tools ?? body.tools)).toEqual(['ask', 'search_tools', 'first'])
    expect(JSON.stringify(body)).not.toContain('defer_loading')
  })

  it.each(searching)('offers only the tool that must be called: %s', async (_name, { config, provider }) => {
    const forced = plainRequest(config, { ...asked, toolChoice: { tool: 'second' } })
    const { tools } = await sentBody<Body>(provider, forced)
    expect(namesIn(tools)).toEqual(expect.arrayContaining(['ask', 'second', '(first)']))
    const searches = await sentBody<Body>(provider, plainRequest(config, { ...asked, toolChoice: { tool: 'search_tools' } }))
    expect(namesIn(searches.tools)).toEqual(['ask', 'search_tools', 'first'])
  })

  it('sets no cache breakpoint on a deferred tool, and declares search once', async () => {
    const only = { tools: [search], searchable: { tools: [first], foundBy: ['search_tools'] } }
    const { config, provider } = anthropic('claude-sonnet-5', { apiKey })
    const { tools } = await sentBody<Body>(provider, plainRequest(config, only))
    expect(tools.map((each) => [each.name, each.defer_loading, 'cache_control' in each])).toEqual([
      ['first', true, false],
      ['tool_search_tool_bm25', undefined, true],
    ])
    const serverTools = [anthropicTools.toolSearch({ by: 'regex' })]
    const declared = anthropic('claude-sonnet-5', { apiKey, serverTools })
    expect(namesIn((await sentBody<Body>(declared.provider, plainRequest(declared.config, only))).tools)).toEqual([
      '(first)',
      'tool_search_tool_regex',
    ])
  })
})

describe('tool references found by Anthropic', () => {
  const { config, provider } = anthropic('claude-sonnet-5', { apiKey })
  const call = { type: 'server_tool_use', id: 'srv_1', name: 'tool_search_tool_bm25', input: { query: 'x' } }
  const found = {
    type: 'tool_search_tool_result',
    tool_use_id: 'srv_1',
    content: { type: 'tool_search_tool_search_result', tool_references: [{ type: 'tool_reference', tool_name: 'second' }] },
  }
  const answer = answerBy({ model: config.id, provider: config.provider }, [
    {
      type: 'serviceTool',
      id: 'srv_1',
      name: call.name,
      input: call.input,
      status: 'done',
      output: ['second'],
      providerState: { api: config.api, model: config.id, payload: { call, result: found } },
    },
    { type: 'text', text: 'There is one.' },
  ])
  const messages = [user('Hi'), answer, user('Use it')]
  const echoed = async (changes: Partial<StreamRequest>) =>
    (await sentBody<Body>(provider, plainRequest(config, { messages, ...changes }))).messages[1]?.content.map(({ type }) => type)

  it('sends tool references back while their tools are declared, else as text', async () => {
    expect(await echoed(asked)).toEqual(['server_tool_use', 'tool_search_tool_result', 'text'])
    expect(await echoed({ tools: [ask, search], searchable: { tools: [first], foundBy: ['search_tools'] } })).toEqual(['text', 'text'])
    expect(await echoed({ ...asked, toolChoice: { tool: 'search_tools' } })).toEqual(['text', 'text'])
    expect(await echoed(asked)).toEqual(['server_tool_use', 'tool_search_tool_result', 'text'])
  })
})

/** The events of an answer of Anthropic. */
function events(blocks: object[], stop: string): string {
  const list = [
    { type: 'message_start', message: { id: 'm', model: 'claude-sonnet-5', content: [], usage: {} } },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

describe('toolSearch with native', () => {
  const tools = toolSearch(
    Array.from({ length: 50 }, (_, at) => tool(`tool_${at}`, () => `tool_${at} ran`, { description: `Does thing ${at}.` })),
    { native: true, most: 1 },
  )
  const reference = { type: 'tool_reference', tool_name: 'tool_7' }
  const found = [
    { type: 'server_tool_use', id: 'srv_1', name: 'tool_search_tool_bm25', input: { query: 'thing 7' } },
    {
      type: 'tool_search_tool_result',
      tool_use_id: 'srv_1',
      content: { type: 'tool_search_tool_search_result', tool_references: [reference] },
    },
    { type: 'tool_use', id: 'call_1', name: 'tool_7', input: {} },
  ]

  function service(...answers: string[]) {
    const bodies: Body[] = []
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      bodies.push(JSON.parse(String(init?.body)))
      const body = answers[bodies.length - 1]
      if (body === undefined) return Response.json({ error: { message: 'No.' } }, { status: 401 })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    return { bodies, model: anthropic('claude-sonnet-5', { apiKey, fetch }) }
  }
  const said = (messages: readonly AgentMessage[]): string => JSON.stringify(messages)

  it('runs tools found by the provider and sends the same tools each time', async () => {
    const { bodies, model } = service(events(found, 'tool_use'), events([{ type: 'text', text: 'Done.' }], 'end_turn'))
    const agent = new Agent({ model, tools })
    const { text, messages } = await agent.prompt('Do thing 7.').result
    expect([text, said(messages).includes('tool_7 ran')]).toEqual(['Done.', true])
    expect(bodies.map((body) => JSON.stringify(body.tools))).toEqual([JSON.stringify(bodies[0]?.tools), JSON.stringify(bodies[0]?.tools)])
    expect(bodies[0]?.tools).toHaveLength(51)
    expect(JSON.stringify(bodies[0])).not.toContain('search_tools')
    expect(bodies[1]?.messages[1]?.content.map(({ type }) => type)).toEqual(['server_tool_use', 'tool_search_tool_result', 'tool_use'])
  })

  it('runs tools found by OpenAI and sends the search back unchanged', async () => {
    const items = [
      { type: 'tool_search_call', id: 'tsc_1', call_id: null, status: 'completed', execution: 'server', arguments: { query: 'thing 7' } },
      {
        type: 'tool_search_output',
        id: 'tso_1',
        call_id: null,
        status: 'completed',
        execution: 'server',
        tools: [{ type: 'function', name: 'tool_7' }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'tool_7', namespace: 'tool_7', arguments: '{}', status: 'completed' },
    ]
    const said = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
    }
    const bodies: { input: Record<string, unknown>[]; tools: object[] }[] = []
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      bodies.push(JSON.parse(String(init?.body)))
      const output = bodies.length === 1 ? items : [said]
      const list = [
        { type: 'response.created', response: { id: 'resp_1' } },
        ...output.flatMap((item, output_index) => [
          { type: 'response.output_item.added', output_index, item },
          { type: 'response.output_item.done', output_index, item },
        ]),
        { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output, usage: {} } },
      ]
      return new Response(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), {
        headers: { 'content-type': 'text/event-stream' },
      })
    }
    const agent = new Agent({ model: openaiResponses('gpt-5.4', { apiKey, fetch }), tools })
    const { text, messages } = await agent.prompt('Do thing 7.').result
    expect([text, JSON.stringify(messages).includes('tool_7 ran')]).toEqual(['Done.', true])
    expect(bodies[1]?.tools).toEqual(bodies[0]?.tools)
    expect(bodies[1]?.input.map(({ type, namespace }) => [type, namespace])).toEqual([
      [undefined, undefined],
      ['tool_search_call', undefined],
      ['tool_search_output', undefined],
      ['function_call', 'tool_7'],
      ['function_call_output', undefined],
    ])
  })

  it("continues with the SDK's search on a model without hosted search", async () => {
    const { model } = service(events(found, 'tool_use'))
    const second = scripted([
      { toolCalls: [{ name: 'search_tools', arguments: { query: 'thing 9' } }] },
      { toolCalls: [{ name: 'tool_9', arguments: {} }] },
      { text: 'Done.' },
    ])
    const agent = new Agent({ model: fallback([model, second], { on: ['auth'] }), tools, logger: false })
    const { text, messages } = await agent.prompt('Do things 7 and 9.').result
    expect([text, said(messages).includes('tool_9 ran')]).toEqual(['Done.', true])
    expect(second.provider.requests.map((request) => namesIn(request.tools))).toEqual([
      ['search_tools', 'tool_7'],
      ['search_tools', 'tool_7', 'tool_9'],
      ['search_tools', 'tool_7', 'tool_9'],
    ])
  })

  it('searches only the tools that a turn hook names', async () => {
    const { bodies, model } = service(events([{ type: 'text', text: 'Done.' }], 'end_turn'))
    const activeTools = ['search_tools', 'tool_7', 'tool_9']
    await new Agent({ model, tools, hooks: { prepareTurn: () => ({ activeTools }) } }).prompt('go').result
    expect(namesIn(bodies[0]?.tools ?? [])).toEqual(['(tool_7)', '(tool_9)', 'tool_search_tool_bm25'])
  })
})
