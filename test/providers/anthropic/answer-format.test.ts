import { describe, expect, it } from 'vitest'
import { Agent } from '../../../src/agent/agent.ts'
import { parseOutput } from '../../../src/agent/parse-output.ts'
import type { JsonSchema } from '../../../src/contract/json.ts'
import type { FileContent } from '../../../src/contract/message/content.ts'
import type { Message } from '../../../src/contract/message/message.ts'
import type { ResponseFormat } from '../../../src/contract/model/request-settings.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answering } from '../bytes.ts'
import { answer, bodyFor, call, request, type WireMessages } from './call.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: {
    place: { type: 'object', properties: { city: { type: 'string' } } },
    days: { type: 'array', items: { $ref: '#/$defs/day' } },
  },
  required: ['place'],
  $defs: { day: { type: 'object', properties: { rain: { anyOf: [{ type: 'boolean' }, { type: 'null' }] } } } },
}
const closed = {
  type: 'object',
  additionalProperties: false,
  properties: {
    place: { type: 'object', additionalProperties: false, properties: { city: { type: 'string' } } },
    days: { type: 'array', items: { $ref: '#/$defs/day' } },
  },
  required: ['place'],
  $defs: { day: { type: 'object', additionalProperties: false, properties: { rain: { anyOf: [{ type: 'boolean' }, { type: 'null' }] } } } },
}
const format: ResponseFormat = { type: 'jsonSchema', name: 'forecast', schema }
const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } }

async function encoded(id: string, changes: Partial<StreamRequest>) {
  const made = request(id, changes)
  const { warnings } = await anthropic(id).provider.encode(made)
  return { body: await bodyFor(made), warnings }
}

describe('output schema of a model with native structured output', () => {
  it.each(['claude-sonnet-4-6', 'claude-opus-4-8', 'claude-opus-5-5', 'claude-unheard-of-9'])(
    'sends the schema as the output format of %s',
    async (id) => {
      const { body, warnings } = await encoded(id, { responseFormat: format })
      expect(body.output_config).toMatchObject({ format: { type: 'json_schema', schema: closed } })
      expect(body).not.toHaveProperty('tool_choice')
      expect(body).not.toHaveProperty('tools')
      expect(warnings).toEqual([])
    },
  )

  it('sends the schema together with effort and tools', async () => {
    const { body } = await encoded('claude-opus-4-8', { responseFormat: format, thinking: 'high', tools: [look] })
    expect(body.output_config).toEqual({ effort: 'high', format: { type: 'json_schema', schema: closed } })
    expect(body.thinking).toEqual({ type: 'adaptive', display: 'summarized' })
    expect(body.tools).toHaveLength(1)
  })

  it.each<[string, JsonSchema]>([
    ['a map', { type: 'object', properties: { counts: { type: 'object', additionalProperties: { type: 'number' } } } }],
    ['an open object', { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true }],
    ['any object inside a list', { type: 'object', properties: { all: { type: 'array', items: { type: 'object' } } } }],
    ['an open branch', { type: 'object', properties: { a: { anyOf: [{ type: 'object', additionalProperties: {} }, { type: 'null' }] } } }],
    ['pattern properties', { type: 'object', properties: {}, patternProperties: { '^x': {} } }],
  ])('uses an answer tool if closing the schema would change it: %s', async (_what, open) => {
    const { body } = await encoded('claude-sonnet-4-6', { responseFormat: { type: 'jsonSchema', name: 'x', schema: open } })
    expect(body.tools).toMatchObject([{ name: 'respond_json', input_schema: open }])
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'respond_json' })
    expect(JSON.stringify(body.output_config ?? {})).not.toContain('format')
  })
})

describe('output schema of a model without native structured output', () => {
  it('forces an answer tool for a schema', async () => {
    const { body, warnings } = await encoded('claude-sonnet-4-5', { responseFormat: format })
    expect(body.tools).toMatchObject([{ name: 'respond_json', input_schema: schema }])
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'respond_json' })
    expect(warnings).toEqual([])
  })

  it('disables thinking for a forced tool and warns', async () => {
    const { body, warnings } = await encoded('claude-sonnet-4-5', { responseFormat: format, thinking: 'high', temperature: 0.5 })
    expect(body).not.toHaveProperty('thinking')
    expect(body.temperature).toBe(0.5)
    expect(warnings.join()).toMatch(/thinking switched off/)
  })

  it('allows other tool calls before the answer tool', async () => {
    const { body } = await encoded('claude-sonnet-4-5', { responseFormat: format, tools: [look] })
    expect(body.tools).toMatchObject([{ name: 'look' }, { name: 'respond_json' }])
    expect(body.tool_choice).toEqual({ type: 'any' })
  })
})

describe('JSON mode', () => {
  it('adds an answer tool, and forces it if allowed', async () => {
    const open = { type: 'object', additionalProperties: true }
    const forced = await encoded('claude-opus-4-8', { responseFormat: { type: 'jsonObject' }, thinking: 'high' })
    expect(forced.body).toMatchObject({
      tools: [{ name: 'respond_json', input_schema: open }],
      tool_choice: { name: 'respond_json' },
      thinking: { type: 'disabled' },
    })
    const asked = await encoded('claude-opus-5-5', { responseFormat: { type: 'jsonObject' } })
    expect(asked.body).toMatchObject({ tools: [{ name: 'respond_json' }] })
    expect(asked.body).not.toHaveProperty('tool_choice')
    expect(asked.warnings.join()).toMatch(/cannot enforce/)
  })

  it('adds no answer tool for text output', async () => {
    const { body } = await encoded('claude-opus-4-8', { responseFormat: { type: 'text' } })
    expect(body).toEqual((await encoded('claude-opus-4-8', {})).body)
  })
})

describe('an agent with an answer tool', () => {
  const frames = [
    { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'respond_json', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"place":{"ci' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: 'ty":"Oslo"}}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  const bytes = new TextEncoder().encode(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''))

  it("ends after one call, and streams the answer tool's arguments as text", async () => {
    let calls = 0
    const send: typeof fetch = (...args) => {
      calls += 1
      return answering([bytes])(...args)
    }
    const agent = new Agent({ model: anthropic('claude-sonnet-4-5', { fetch: send }), responseFormat: format })
    const run = agent.prompt('Where?')
    let streamed = ''
    for await (const event of run) if (event.type === 'messageUpdate' && event.delta.type === 'text') streamed += event.delta.delta
    const result = await run.result
    expect(result).toMatchObject({ status: 'completed', text: '{"place":{"city":"Oslo"}}' })
    expect(streamed).toBe(result.text)
    expect(calls).toBe(1)
    expect(result.messages.at(-1)).toMatchObject({ stopReason: 'stop', content: [{ type: 'text' }] })
    expect(await parseOutput(result, schema)).toEqual({ place: { city: 'Oslo' } })
  })
})

describe('documents with citations', () => {
  const document = (changes: Partial<FileContent> = {}): FileContent => ({
    type: 'file',
    mimeType: 'application/pdf',
    data: 'JVBERi0=',
    ...changes,
  })
  const asking = (...content: FileContent[]): Message[] => [
    { role: 'user', content: [...content, { type: 'text', text: 'What does it say?' }], timestamp: 0 },
  ]
  const citing = { citations: { enabled: true } }
  const documentsOf = ({ messages }: Record<string, unknown>) =>
    (messages as WireMessages).flatMap(({ content }) => content.filter(({ type }) => type === 'document'))

  it('disables citations next to an output schema and warns', async () => {
    const changes = { messages: asking(document({ citations: true })), responseFormat: format }
    const { body, warnings } = await encoded('claude-opus-4-8', { ...changes, cache: { type: 'disabled' } })
    expect(documentsOf(body)).toEqual([{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } }])
    expect(warnings).toEqual([expect.stringContaining('citations omitted')])
    await expect(encoded('claude-opus-4-8', { ...changes, strict: true })).rejects.toThrow(
      /citations omitted.*With strict, this is an error/s,
    )
  })

  it('gives no warning if citations are only the default', async () => {
    const wished = document({ citations: 'ifPossible' })
    const held = await encoded('claude-opus-4-8', { messages: asking(wished), responseFormat: format, strict: true })
    const beside = await encoded('claude-opus-4-8', { messages: asking(wished, document({ citations: false })) })
    for (const { body, warnings } of [held, beside]) {
      expect(documentsOf(body).some((each) => 'citations' in each)).toBe(false)
      expect(warnings).toEqual([])
    }
    expect(documentsOf((await encoded('claude-opus-4-8', { messages: asking(wished) })).body)).toMatchObject([citing])
  })

  it('keeps citations if an answer tool carries the output', async () => {
    const changes = { messages: asking(document({ citations: true })), responseFormat: { type: 'jsonObject' } as const }
    const { body, warnings } = await encoded('claude-opus-4-8', changes)
    expect(documentsOf(body)).toMatchObject([citing])
    expect(warnings).toEqual([])
  })

  it('enables citations for all documents of a request or for none', async () => {
    const later: Message = {
      role: 'toolResult',
      toolCallId: 'a',
      toolName: 'read',
      content: [document({ name: 'b.pdf' })],
      isError: false,
      timestamp: 2,
    }
    const { body } = await encoded('claude-opus-4-8', {
      messages: [...asking(document({ citations: true }), document()), answer([call('a')]), later],
      tools: [look],
    })
    const results = (body.messages as WireMessages).flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'tool_result' ? block.content : [])),
    )
    expect([...documentsOf(body), ...results]).toMatchObject([citing, citing, citing])
  })

  it('warns about documents that get citations without requesting them', async () => {
    const { body, warnings } = await encoded('claude-opus-4-8', {
      messages: asking(document({ citations: true }), document({ citations: false })),
    })
    expect(documentsOf(body)).toMatchObject([citing, citing])
    expect(warnings).toEqual([expect.stringMatching(/citations.*all documents/)])
    const none = await encoded('claude-opus-4-8', { messages: asking(document(), document({ citations: false })) })
    expect(documentsOf(none.body).every((each) => !('citations' in each))).toBe(true)
    expect(none.warnings).toEqual([])
  })
})
