import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { emptyUsage } from '../../src/context.ts'
import { Agent, type AssistantMessage, type JsonSchema, ProviderError, parseOutput, userMessage } from '../../src/index.ts'
import { agentLoop } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { ResponseFormatInput } from '../../src/providers.ts'
import { add } from '../support/play.ts'

const place = z.object({ city: z.string(), degrees: z.number().max(60) })
const placeJson: JsonSchema = {
  title: 'A place!',
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city'],
}

/** What the model was asked for, in each of `count` calls. */
async function asked(settings: { agent?: ResponseFormatInput; prompt?: ResponseFormatInput }) {
  const model = scripted([{ text: '{}' }])
  const agent = new Agent({ model, ...(settings.agent !== undefined && { responseFormat: settings.agent }) })
  const result = await agent.prompt('Where?', settings.prompt === undefined ? {} : { responseFormat: settings.prompt }).result
  return { format: model.provider.requests[0]?.responseFormat, result }
}

describe('responseFormat', () => {
  it('uses text if no response format is set', async () => {
    expect((await asked({})).format).toBeUndefined()
  })

  it("uses the agent's format by default", async () => {
    const format = { type: 'jsonSchema', name: 'place', strict: true, schema: placeJson } as const
    expect((await asked({ agent: format })).format).toBe(format)
    expect((await asked({ agent: { type: 'jsonObject' } })).format).toEqual({ type: 'jsonObject' })
  })

  it("prefers the prompt's format over the agent's", async () => {
    expect((await asked({ agent: { type: 'jsonObject' }, prompt: { type: 'text' } })).format).toEqual({ type: 'text' })
  })

  it('converts a Standard Schema to JSON Schema', async () => {
    const { format } = await asked({ prompt: place })
    expect(format).toMatchObject({
      type: 'jsonSchema',
      name: 'answer',
      schema: { type: 'object', properties: { city: { type: 'string' }, degrees: { maximum: 60 } }, required: ['city', 'degrees'] },
    })
    // The same object each time: encoders remember what they made of it.
    expect((await asked({ prompt: place })).format).toBe(format)
  })

  it('converts a JSON Schema and uses its title as the name', async () => {
    expect((await asked({ prompt: placeJson })).format).toEqual({ type: 'jsonSchema', name: 'A_place_', schema: placeJson })
  })

  it.each([[v.object({ a: v.string() }), /valibot.*Pass one instead/]])(
    'ends the run with invalidOption if no provider accepts the format',
    async (schema, message) => {
      const { format, result } = await asked({ prompt: schema })
      expect(format).toBeUndefined()
      expect(result).toMatchObject({ status: 'error', error: { code: 'invalidOption', message: expect.stringMatching(message) } })
    },
  )

  it('applies to every turn with and without an agent', async () => {
    const script = [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: '{"sum":3}' }]
    const model = scripted(script)
    const result = await new Agent({ model, tools: [add], responseFormat: { type: 'jsonObject' } }).prompt('1+2?').result
    expect(model.provider.requests.map((request) => request.responseFormat?.type)).toEqual(['jsonObject', 'jsonObject'])
    await expect(parseOutput(result, { type: 'object' })).resolves.toEqual({ sum: 3 })
    const other = scripted(script)
    const context = { systemPrompt: '', messages: [], tools: [add] }
    const options = { emit: () => undefined, signal: new AbortController().signal }
    await agentLoop('1+2?', context, { model: other, responseFormat: { type: 'jsonObject' } }, options)
    expect(other.provider.requests[1]?.responseFormat).toEqual({ type: 'jsonObject' })
  })
})

function answer(text: string): AssistantMessage {
  const content = [{ type: 'text' as const, text }]
  return { role: 'assistant', content, stopReason: 'stop', model: 'm', provider: 'p', usage: emptyUsage(), timestamp: 1 }
}

async function refusal(parsed: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await parsed.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!ProviderError.isInstance(error)) throw new Error(`Not refused with a ProviderError: ${String(error)}`)
  return error
}

describe('parseOutput', () => {
  it('infers the type from the schema', async () => {
    const result = await new Agent({ model: scripted([{ text: '{"city":"Oslo","degrees":4}' }]) }).prompt('?', { responseFormat: place })
      .result
    const output = await parseOutput(result, place)
    expectTypeOf(output).toEqualTypeOf<{ city: string; degrees: number }>()
    expect(output).toEqual({ city: 'Oslo', degrees: 4 })
  })

  it('applies async transforms of the schema', async () => {
    const dated = z.object({ day: z.iso.date().transform((day) => new Date(day)) })
    expect((await parseOutput(answer('{"day":"2026-11-22"}'), dated)).day.getUTCFullYear()).toBe(2026)
    const slow = z.object({ n: z.number().refine(async (n) => n > 0, 'too small') })
    await expect(parseOutput(answer('{"n":1}'), slow)).resolves.toEqual({ n: 1 })
    expect((await refusal(parseOutput(answer('{"n":0}'), slow))).message).toContain('n: too small')
    await expect(parseOutput(answer('{"a":"x"}'), v.object({ a: v.string() }))).resolves.toEqual({ a: 'x' })
  })

  it('validates against a JSON Schema with the given validator', async () => {
    const output = await parseOutput<{ city: string }>(answer('{"city":"Oslo"}'), placeJson)
    expect(output.city).toBe('Oslo')
    expect((await refusal(parseOutput(answer('{"city":1}'), placeJson))).message).toContain('city: expected string, got number')
    const schemaValidator = { compile: () => () => ({ issues: [{ message: 'never' }] }) }
    expect((await refusal(parseOutput(answer('{}'), placeJson, { schemaValidator }))).message).toContain('answer: never')
    await expect(parseOutput(answer('{}'), { type: 'object', unknownKeyword: 1 })).rejects.toMatchObject({ code: 'unsupportedSchema' })
  })

  it('reports every validation issue', async () => {
    const error = await refusal(parseOutput(answer('{"degrees":99}'), place))
    expect(error.code).toBe('schemaMismatch')
    expect(error.message).toMatch(/^The response does not match its schema:\n/)
    expect(error.message).toContain('city: ')
    expect(error.message).toContain('degrees: ')
    expect((await refusal(parseOutput(answer('[]'), place))).message).toContain('answer: ')
  })

  it('rejects invalid JSON like extractJson', async () => {
    expect((await refusal(parseOutput(answer('Oslo'), place))).message).toContain('not valid JSON')
    expect((await refusal(parseOutput(userMessage('{}'), place))).code).toBe('schemaMismatch')
  })

  it('reports why a run has no response', async () => {
    const fail = { code: 'auth', message: 'No key.' } as const
    const failed = await new Agent({ model: scripted([{ fail }]) }).prompt('?').result
    expect((await refusal(parseOutput(failed, place))).message).toContain('No key.')
    const ended = { ...failed, messages: [], status: 'rejected' as const, rejection: 'Not today.' }
    expect((await refusal(parseOutput(ended, place))).message).toMatch(/status rejected and no response: No key\.$/)
    const { error: _, ...rejected } = ended
    expect((await refusal(parseOutput(rejected, place))).message).toMatch(/: Not today\.$/)
  })
})
