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

describe('what another library calls an option is understood', () => {
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
  ])('by an agent: %s', (name, value, ours) => {
    expect(() => new Agent({ model, [name]: value })).toThrow(`Did you mean ${ours}?`)
  })

  it.each([
    ['baseURL', 'https://a.example', 'baseUrl'],
    ['base_url', 'https://a.example', 'baseUrl'],
    ['endpoint', 'https://a.example', 'baseUrl'],
    ['maxOutputTokens', 5, 'maxTokens'],
    ['defaultHeaders', {}, 'headers'],
    ['token', 'sk-secret', 'apiKey'],
  ])('by a factory: %s', (name, value, ours) => {
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
  ])('by defineTool: %j', (options, ours) => {
    expect(() => defineTool(options as never)).toThrow(new RegExp(`is no option of Tool "add"\\. Did you mean ${ours}\\?`))
  })

  it('by defineTool, for what runs', () => {
    const { execute: handler, ...rest } = base
    expect(() => defineTool({ ...rest, parameters, handler } as never)).toThrow('Did you mean execute?')
  })

  it('by a tool that defineTool did not make', () => {
    expect(() => new Agent({ model, tools: [{ ...base, inputSchema: parameters }] as never })).toThrow(
      'inputSchema (an object) is no option of tools[0]. Did you mean parameters?',
    )
  })

  it.each([
    { type: 'function', function: { name: 'add', description: 'Adds.', parameters } },
    { type: 'function', name: 'add', description: 'Adds.', parameters, strict: true },
  ])("a tool in OpenAI's form has its own sentence: %j", (tool) => {
    expect(() => new Agent({ model, tools: [tool] as never })).toThrow(/^tools\[0\] is a tool in the form of OpenAI's API.*defineTool\(/)
    expect(() => defineTool(tool as never)).toThrow(/form of OpenAI's API/)
  })

  it('says where blocks belong that are given as a prompt', () => {
    const prompt = [{ type: 'image_url', image_url: { url: 'https://x.example/y.png' } }] as never
    expect(() => new Agent({ model }).prompt(prompt)).toThrow(/^prompt\[0\] is a block of type "image_url", not a message\. .*role: 'user'/)
  })
})

describe('what is nearest in spelling is suggested', () => {
  it.each([
    ['[callbacks]\nbefore_tol = "a.sh"', 'before_tool_execution'],
    ['[callbacks]\nbefore_lopo = "a.sh"', 'before_loop'],
    ['[callbacks]\nafter_compaction = "a.sh"', 'after_compaction_end'],
    ['[provider]\nprotocol = "openai"', 'api'],
    ['[provider]\nporject = "p"', 'project'],
    ['[provider]\nmodle = "m"', 'model'],
    ['[agent]\ninstructions = "x"', 'system_prompt'],
    ['[provider]\nbaseURL = "https://a.example"', 'base_url'],
  ])('%j', async (text, ours) => {
    const told = await parseConfig(text, 'toml').then(
      ({ warnings }) => warnings[0]?.message,
      (error: unknown) => String(error),
    )
    expect(told).toContain(`Did you mean ${ours}?`)
  })

  it('and nothing where nothing is near', () => {
    expect(() => openai('m', { protocols: 'x' } as never)).toThrow(/Known: /)
    expect(() => new Agent({ model, zzz: 1 } as never)).toThrow(/Known: model/)
  })
})

describe('a schema that JSON cannot hold', () => {
  it.each([
    [z.object({ at: z.date() }), 'Date', 'z.iso.datetime()'],
    [z.object({ n: z.bigint() }), 'BigInt', 'z.string()'],
    [z.object({ all: z.map(z.string(), z.string()) }), 'Map', 'z.record()'],
    [z.object({ n: z.transform(Number) }), 'Transforms', 'z.string().transform()'],
    [z.object({ n: z.symbol() }), 'Symbols', 'a type that JSON has'],
  ])('is told by what it holds', (schema, kind, instead) => {
    const make = () => defineTool({ ...base, parameters: schema as never })
    expect(make).toThrow(
      `Tool "add": the zod schema has no JSON Schema: ${kind} cannot be represented in JSON Schema. A model sends JSON: `,
    )
    expect(make).toThrow(instead)
    expect(make).toThrow(expect.objectContaining({ code: 'invalidTool', message: expect.not.stringContaining('zod 4.2') }))
  })

  const dates: z.ZodType[] = [z.object({ at: z.date() }), z.array(z.coerce.date())]

  it.each(dates)('is told so where it is a responseFormat, also of one prompt', async (responseFormat) => {
    const told =
      'responseFormat: the zod schema has no JSON Schema: Date cannot be represented in JSON Schema. A model sends JSON: take a text, such as z.iso.datetime().transform((text) => new Date(text)).'
    for (const run of [new Agent({ model, responseFormat }).prompt('Hi.'), new Agent({ model }).prompt('Hi.', { responseFormat })]) {
      const { status, error } = await run.result
      expect([status, error?.code, error?.message]).toEqual(['error', 'invalidOption', expect.stringContaining(told)])
    }
  })

  it('has dates in the output where the hint is followed', async () => {
    const responseFormat = z.object({ at: z.iso.datetime().transform((text) => new Date(text)) })
    const agent = new Agent({ model: scripted([{ text: '{"at":"2026-11-29T12:00:00Z"}' }]), responseFormat })
    expect((await agent.prompt('When?').result).output).toEqual({ at: new Date('2026-11-29T12:00:00Z') })
  })
})
