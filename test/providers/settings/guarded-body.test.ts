import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/json.ts'
import { Agent } from '../../../src/index.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { azure } from '../../../src/providers/azure/index.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai, openrouter } from '../../../src/providers/openai.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { vertex } from '../../../src/providers/vertex/index.ts'
import type { Model } from '../../../src/types/model/model.ts'
import { add } from '../../support/play.ts'

interface Options {
  apiKey: string
  fetch: typeof fetch
  body?: JsonObject
}

/** What each protocol's conversation, tools and state are called, in every spelling that its service takes. */
const protocols: readonly [name: string, make: (options: Options) => Model, guarded: JsonObject[]][] = [
  ['Anthropic', (options) => anthropic('m', options), [{ system: 'x' }, { tools: [] }, { tool_choice: { type: 'any' } }, { thread: 'x' }]],
  [
    'Chat',
    (options) => openai('m', options),
    [{ tools: [] }, { functions: [] }, { tool_choice: 'required' }, { function_call: 'auto' }, { store: true }],
  ],
  ['OpenRouter', (options) => openrouter('m', options), [{ models: ['x'] }, { preset: 'x' }, { prompt: 'x' }]],
  [
    'Responses',
    (options) => openaiResponses('m', options),
    [
      { prompt: { id: 'p' } },
      { previous_response_id: 'r' },
      { conversation: 'c' },
      { store: true },
      { instructions: 'x' },
      { tools: [] },
      { tool_choice: 'none' },
    ],
  ],
  [
    'Azure',
    (options) => azure('m', { ...options, resource: 'r' }),
    [{ previous_response_id: 'r' }, { conversation: 'c' }, { store: true }, { instructions: 'x' }, { tools: [] }, { tool_choice: 'none' }],
  ],
  [
    'Gemini',
    (options) => google('m', options),
    [
      ...[{ systemInstruction: {} }, { system_instruction: {} }, { tools: [] }],
      ...[{ toolConfig: { functionCallingConfig: {} } }, { tool_config: { function_calling_config: {} } }, { toolConfig: null }],
    ],
  ],
  ['Vertex', (options) => vertex('m', { ...options, project: 'p' }), [{ systemInstruction: {} }, { tools: [] }, { toolConfig: null }]],
  [
    'Bedrock',
    (options) => bedrock('m', { ...options, region: 'eu-west-1' }),
    [
      ...[
        { modelId: 'x' },
        { system: [] },
        { toolConfig: { tools: [] } },
        { toolConfig: { toolChoice: { any: {} } } },
        { toolConfig: null },
      ],
      ...[{ messages: [] }, { model: 'x' }, { system: 'x' }, { tools: [] }, { tool_choice: {} }].map((fields) => ({
        additionalModelRequestFields: fields,
      })),
    ],
  ],
]
const ofAll: JsonObject[] = [{ model: 'x' }, { messages: [] }, { input: [] }, { contents: [] }, { stream: false }]

/** The names on the way to the innermost field. */
function nameOf(body: JsonObject): string {
  const [key = '', value] = Object.entries(body)[0] ?? []
  const isDeep = typeof value === 'object' && value !== null && !Array.isArray(value) && /config|Fields/i.test(key)
  return isDeep && Object.keys(value).length > 0 ? `${key}.${nameOf(value)}` : key
}

describe.each(protocols)('body of %s', (_, make, guarded) => {
  const requests: string[] = []
  const options = {
    apiKey: 'k-0123456789',
    fetch: async (_url: unknown, init?: RequestInit) => {
      requests.push(String(init?.body))
      return new Response('', { status: 400 })
    },
  }

  it.each([...ofAll, ...guarded].map((body) => [nameOf(body), body] as const))('rejects %s in the body', async (name, body) => {
    const before = requests.length
    const agent = new Agent({ model: make(options), tools: [add], logger: false })
    if (ofAll.includes(body)) {
      expect(() => make({ ...options, body })).toThrow(`body.${name} cannot be set`)
      expect(() => agent.prompt('Hi.', { body })).toThrow(`body.${name} cannot be set`)
    } else {
      const ways = [
        agent.prompt('Hi.', { body }),
        agent.with({ model: make({ ...options, body }) }).prompt('Hi.'),
        agent.with({ hooks: { prepareTurn: () => ({ body }) } }).prompt('Hi.'),
      ]
      for (const { result } of ways)
        expect((await result).error).toMatchObject({ code: 'unsupported', message: expect.stringContaining(`body.${name} cannot be set`) })
    }
    expect(requests).toHaveLength(before)
  })

  it('accepts provider fields next to the settings', async () => {
    const body = { metadata: { team: 'a' }, toolConfig: { retrievalConfig: {} }, additionalModelRequestFields: { top_k: 3 } }
    await new Agent({ model: make({ ...options, body }), logger: false, retry: { maxRetries: 0 } }).prompt('Hi.').result
    expect(JSON.parse(requests.at(-1) ?? '{}')).toMatchObject(body)
  })
})
