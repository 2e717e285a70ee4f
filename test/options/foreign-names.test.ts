import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseConfig } from '../../src/config.ts'
import { Agent, defineTool } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const model = scripted(() => ({ text: 'ok' }))
const parameters = { type: 'object', properties: {} } as const
const base = { name: 'add', description: 'Adds.', execute: () => 'x' }

describe('option names of other libraries', () => {
  it.each([
    ['system', 'x', 'systemPrompt'],
    ['instructions', 'x', 'systemPrompt'],
    ['tool', [], 'tools'],
    ['maxSteps', 5, 'limits.maxTurns'],
    ['max_iterations', 5, 'limits.maxTurns'],
    ['maxOutputTokens', 5, 'maxTokens'],
    ['max_completion_tokens', 5, 'maxTokens'],
    ['history', [], 'messages'],
    ['threadId', 't', 'sessionId'],
    ['reasoningEffort', 'low', 'thinking'],
    ['outputSchema', {}, 'responseFormat'],
    ['max_tokens', 5, 'maxTokens'],
  ])('suggests the correct agent option: %s', (name, value, ours) => {
    expect(() => new Agent({ model, [name]: value })).toThrow(`Did you mean ${ours}?`)
  })

  it.each([
    ['baseURL', 'https://a.example', 'baseUrl'],
    ['base_url', 'https://a.example', 'baseUrl'],
    ['endpoint', 'https://a.example', 'baseUrl'],
    ['maxOutputTokens', 5, 'maxTokens'],
    ['defaultHeaders', {}, 'headers'],
    ['token', 'sk-secret', 'apiKey'],
  ])('suggests the correct factory option: %s', (name, value, ours) => {
    for (const make of [openai, anthropic]) {
      expect(() => make('m', { apiKey: 'k', [name]: value })).toThrow(`Did you mean ${ours}?`)
      expect(() => make('m', { apiKey: 'k', [name]: value })).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('sk-secret') }),
      )
    }
  })

  it.each([
    [{ ...base, inputSchema: parameters }, 'parameters'],
    [{ ...base, schema: parameters }, 'parameters'],
    [{ ...base, paramters: parameters }, 'parameters'],
    [{ ...base, parameters, requiresApproval: true }, 'needsApproval'],
  ])('suggests the correct defineTool option: %j', (options, ours) => {
    expect(() => defineTool(options as never)).toThrow(new RegExp(`is not an option of Tool "add"\\. Did you mean ${ours}\\?`))
  })

  it('suggests execute for a handler', () => {
    const { execute: handler, ...rest } = base
    expect(() => defineTool({ ...rest, parameters, handler } as never)).toThrow('Did you mean execute?')
  })

  it('suggests the correct field of a plain tool object', () => {
    expect(() => new Agent({ model, tools: [{ ...base, inputSchema: parameters }] as never })).toThrow(
      'inputSchema (an object) is not an option of tools[0]. Did you mean parameters?',
    )
  })

  it.each([
    { type: 'function', function: { name: 'add', description: 'Adds.', parameters } },
    { type: 'function', name: 'add', description: 'Adds.', parameters, strict: true },
  ])('explains a tool in OpenAI format: %j', (tool) => {
    expect(() => new Agent({ model, tools: [tool] as never })).toThrow(/^tools\[0\] is a tool in OpenAI's format.*defineTool\(/)
    expect(() => defineTool(tool as never)).toThrow(/OpenAI's format/)
  })

  it('explains how to wrap content blocks passed as a prompt', () => {
    const prompt = [{ type: 'image_url', image_url: { url: 'https://x.example/y.png' } }] as never
    expect(() => new Agent({ model }).prompt(prompt)).toThrow(/^prompt\[0\] is a block of type "image_url", not a message\. .*role: 'user'/)
  })
})

describe('suggestions for misspelled options', () => {
  it.each([
    ['[callbacks]\nbefore_tol = "a.sh"', 'before_tool_execution'],
    ['[callbacks]\nbefore_lopo = "a.sh"', 'before_loop'],
    ['[callbacks]\nafter_compaction = "a.sh"', 'after_compaction_end'],
    ['[provider]\nprotocol = "openai"', 'api'],
    ['[provider]\nporject = "p"', 'project'],
    ['[provider]\nmodle = "m"', 'model'],
    ['[agent]\ninstructions = "x"', 'system_prompt'],
    ['[provider]\nbaseURL = "https://a.example"', 'base_url'],
  ])('names the nearest option: %j', async (text, ours) => {
    const told = await parseConfig(text, 'toml').then(
      ({ warnings }) => warnings[0]?.message,
      (error: unknown) => String(error),
    )
    expect(told).toContain(`Did you mean ${ours}?`)
  })

  it('lists the known options if none is similar', () => {
    expect(() => openai('m', { protocols: 'x' } as never)).toThrow(/Known: /)
    expect(() => new Agent({ model, zzz: 1 } as never)).toThrow(/Known: model/)
  })
})

describe('a schema that JSON Schema cannot represent', () => {
  it.each([
    [z.object({ at: z.date() }), 'Date', 'z.iso.datetime()'],
    [z.object({ n: z.bigint() }), 'BigInt', 'z.string()'],
    [z.object({ all: z.map(z.string(), z.string()) }), 'Map', 'z.record()'],
    [z.object({ n: z.transform(Number) }), 'Transforms', 'z.string().transform()'],
    [z.object({ n: z.symbol() }), 'Symbols', 'a type that JSON has'],
  ])('names the unsupported type and an alternative', (schema, kind, instead) => {
    const make = () => defineTool({ ...base, parameters: schema as never })
    expect(make).toThrow(
      `Tool "add": the zod schema has no JSON Schema: ${kind} cannot be represented in JSON Schema. A model sends JSON: `,
    )
    expect(make).toThrow(instead)
    expect(make).toThrow(expect.objectContaining({ code: 'invalidTool', message: expect.not.stringContaining('zod 4.2') }))
  })

  const dates: z.ZodType[] = [z.object({ at: z.date() }), z.array(z.coerce.date())]

  it.each(dates)('fails the run if used as a responseFormat, also for one prompt', async (responseFormat) => {
    const told =
      'responseFormat: the zod schema has no JSON Schema: Date cannot be represented in JSON Schema. A model sends JSON: take a text, such as z.iso.datetime().transform((text) => new Date(text)).'
    for (const run of [new Agent({ model, responseFormat }).prompt('Hi.'), new Agent({ model }).prompt('Hi.', { responseFormat })]) {
      const { status, error } = await run.result
      expect([status, error?.code, error?.message]).toEqual(['error', 'invalidOption', expect.stringContaining(told)])
    }
  })

  it('returns dates in the output with the suggested transform', async () => {
    const responseFormat = z.object({ at: z.iso.datetime().transform((text) => new Date(text)) })
    const agent = new Agent({ model: scripted([{ text: '{"at":"2026-11-29T12:00:00Z"}' }]), responseFormat })
    expect((await agent.prompt('When?').result).output).toEqual({ at: new Date('2026-11-29T12:00:00Z') })
  })
})
